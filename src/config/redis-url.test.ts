import { describe, expect, test } from 'vitest';
import { parseRedisUrl } from './redis-url.ts';

const anonymous = { username: undefined, password: undefined, database: 0 };

describe('the URL of a Redis server', () => {
  test.each([
    ['redis://cache', { ...anonymous, server: { host: 'cache', port: 6379, isTls: false } }],
    ['redis://10.0.0.7:7000/3', { ...anonymous, database: 3, server: { host: '10.0.0.7', port: 7000, isTls: false } }],
    ['redis://[2001:db8::7]:7000/', { ...anonymous, server: { host: '2001:db8::7', port: 7000, isTls: false } }],
    ['rediss://cache.example', { ...anonymous, server: { host: 'cache.example', port: 6379, isTls: true } }],
    ['unix:///run/redis/redis.sock', { ...anonymous, server: { socketPath: '/run/redis/redis.sock' } }],
    ['unix:/run/redis.sock?db=2', { ...anonymous, database: 2, server: { socketPath: '/run/redis.sock' } }],
    ['redis+unix:///run/with%20blank.sock', { ...anonymous, server: { socketPath: '/run/with blank.sock' } }],
  ])('%s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address);
  });

  test('holds a user and a password, which may contain any character', () => {
    expect(parseRedisUrl('redis://pennant:p%40ss%3A%2F@cache')).toMatchObject({
      username: 'pennant',
      password: 'p@ss:/',
    });
    expect(parseRedisUrl('redis://:secret@cache')).toMatchObject({ username: undefined, password: 'secret' });
  });

  test.each([
    'cache:6379',
    'http://cache',
    'redis://',
    'redis:cache',
    'redis://cache:70000',
    'redis://cache/first',
    'redis://cache/1/2',
    'redis://cache?db=1',
    'redis://user:%zz@cache',
    'unix://',
    'unix:///run/',
    'unix://host/redis.sock',
    'unix:///redis.sock?db=x',
  ])('%s is refused', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(/^must be redis:\/\//);
  });

  test('is never part of an error message', () => {
    expect(() => parseRedisUrl('redis://user:topsecret@cache/first')).toThrow(expect.not.stringContaining('topsecret'));
  });
});

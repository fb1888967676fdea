import { describe, expect, it } from 'vitest';
import { rateLimitOverride } from '../domain/setting-forms.ts';
import { createLimitLookup } from './limiter.ts';

const DEFAULT_LIMIT = { requests: 10, windowMs: 30_000 };

describe('createLimitLookup', () => {
  const limitFor = createLimitLookup(
    DEFAULT_LIMIT,
    [
      '198.51.100.0/24=100/60',
      '198.51.100.128/25=unlimited',
      '198.51.100.200/32=1/1',
      '2001:db8:1::/48=50/30',
      '2001:db8:1::7/128=unlimited',
      '64:ff9b::203.0.113.0/120=20/30',
    ].map(rateLimitOverride),
  );

  it.each([
    ['198.51.100.1', { requests: 100, windowMs: 60_000 }],
    ['198.51.100.129', 'unlimited'],
    ['198.51.100.200', { requests: 1, windowMs: 1_000 }],
    ['198.51.101.1', DEFAULT_LIMIT],
    ['2001:db8:1:ffff::1', { requests: 50, windowMs: 30_000 }],
    ['2001:db8:1::7', 'unlimited'],
    ['2001:db8:2::1', DEFAULT_LIMIT],
    ['::ffff:198.51.100.1', { requests: 100, windowMs: 60_000 }],
    ['64:ff9b::198.51.100.1', { requests: 100, windowMs: 60_000 }],
    ['203.0.113.9', { requests: 20, windowMs: 30_000 }],
  ])('gives %s the limit of the longest prefix', (address, limit) => {
    expect(limitFor(address)).toEqual(limit);
  });

  it('gives what is no address the default limit', () => {
    expect(limitFor('')).toEqual(DEFAULT_LIMIT);
  });

  it('gives everyone the default limit when there are no overrides', () => {
    expect(createLimitLookup(DEFAULT_LIMIT, [])('198.51.100.1')).toBe(DEFAULT_LIMIT);
  });
});

import sharp from 'sharp';
import { expect, test } from 'vitest';
import { findEmptySamples, findResponseFault, isRefusal } from './response-faults.ts';

const ID = 'UCPennantSample00000001A';
const IMAGE = await sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
  .png()
  .toBuffer();
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const judge = (url: string, status: number, bytes: Buffer) => findResponseFault(url, { status, headers: {}, bytes });

test.each([
  ['a lost image', `/${ID}/tv.png?width=60`, 404, IMAGE],
  ['an error', `/${ID}/tv.png?width=60`, 503, IMAGE],
  ['an empty image', `/${ID}/tv.png?width=60`, 200, Buffer.alloc(0)],
  ['a truncated image', `/${ID}/tv.png?width=60`, 200, IMAGE.subarray(0, IMAGE.length - 20)],
  ['an image of another format', `/${ID}/tv.webp?width=60`, 200, IMAGE],
  ['an image of another width', `/${ID}/tv.png?width=61`, 200, IMAGE],
  ['an avatar that is smaller than its original', `/${ID}/avatar.png?width=900`, 200, IMAGE],
  ['a stable error', `/api/channel/${ID}`, 503, json({ channelId: ID })],
  ['the record of another channel', `/api/channel/${ID}`, 200, json({ channelId: 'UCother' })],
  ['a record that is null', `/api/channel/${ID}`, 200, json(null)],
  ['a truncated record', `/api/channel/${ID}`, 200, Buffer.from('{"channelId"')],
  ['a search without results', '/api/search?q=a', 200, json({})],
])('%s is a fault', async (_what, url, status, bytes) => {
  expect(await judge(url, status, bytes)).toEqual(expect.any(String));
});

test.each([
  [`/${ID}/tv.png?width=60`, IMAGE],
  [`/${ID}/tv`, IMAGE],
  [`/api/channel/${ID}?cb=1`, json({ channelId: ID })],
  ['/api/search?q=a', json({ results: [] })],
])('the right response to %s is no fault', async (url, bytes) => {
  expect(await judge(url, 200, bytes)).toBeUndefined();
});

test.each([
  [503, '3', true],
  [503, 'abc', false],
  [503, '0', false],
  [503, '1.5', false],
  [503, undefined, false],
  [500, '3', false],
])('a %d with Retry-After %s is a refusal: %s', (status, seconds, expected) => {
  expect(isRefusal({ status, headers: { ...(seconds !== undefined && { 'retry-after': seconds }) } })).toBe(expected);
});

test('an empty sample is a fault', () => {
  expect(findEmptySamples({ responses: 3, files: 0 })).toEqual(['no files: nothing was tested']);
});

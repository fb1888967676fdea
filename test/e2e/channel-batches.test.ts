import { describe, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { Identifier } from '../../src/domain/identifier.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startForTest, useTestApp } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import type { InProcessResponse } from '../helpers/in-process.ts';

interface Item {
  readonly identifier: string;
  readonly channel?: Record<string, unknown> & { readonly channelId: string };
  readonly error?: { readonly status: number; readonly code: string; readonly detail: string };
}

/** A live source that has every channel ID. The handle `number-7` belongs to channel 7. */
interface CountedSource extends ChannelSource {
  /** The IDs and handles that were loaded. */
  readonly loads: string[];
  /** While set, every load fails. */
  failure: AppError | undefined;
  /** Makes further loads wait until `release`. `begun` resolves when the first of them has begun. */
  hold(): { readonly begun: Promise<void>; release(): void };
}

function createCountedSource(): CountedSource {
  const numbered = numberedSource();
  let held: { begun: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined;

  async function load(name: string): Promise<void> {
    source.loads.push(name);
    held?.begun.resolve();
    await held?.released.promise;
    if (source.failure !== undefined) throw source.failure;
  }

  const source: CountedSource = {
    ...numbered,
    name: 'counted',
    loads: [],
    failure: undefined,
    hold() {
      const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { begun, released };
      return {
        begun: begun.promise,
        release() {
          held = undefined;
          released.resolve();
        },
      };
    },
    async resolve(identifier: Identifier) {
      await load(`@${identifier.key}`);
      const number = /^number-(\d+)$/.exec(identifier.key)?.[1];
      if (number === undefined) throw new AppError('channel_not_found', 'There is no such channel.');
      return { channelId: numberedChannelId(Number(number)) };
    },
    async getChannel(channelId, options) {
      await load(channelId);
      return numbered.getChannel(channelId, options);
    },
  };
  return source;
}

const ids = (...numbers: number[]) => numbers.map(numberedChannelId);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const itemsOf = (response: InProcessResponse) => response.json<{ results: Item[] }>().results;
const summaryOf = (response: InProcessResponse) =>
  itemsOf(response).map(({ channel, error }) => channel?.channelId ?? error?.code);

const BLOCKED = numberedChannelId(666);

async function start(env: Record<string, string> = {}) {
  const source = createCountedSource();
  const service = await startForTest({ sources: [source], env: { BLOCKED_CHANNELS: BLOCKED, ...env } });
  const batch = (identifiers: readonly string[], headers: Record<string, string> = {}) =>
    service.get(`/api/channels?ids=${identifiers.map(encodeURIComponent).join(',')}`, headers);
  return { source, service, batch };
}

describe('a batch of channels', () => {
  test('has the record of each identifier in the order of the request, equal to the response of a single request', async () => {
    const app = await start();
    const wanted = [...ids(2, 1), '@Number-3'];
    const response = await app.batch(wanted);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(itemsOf(response).map(({ identifier }) => identifier)).toEqual(wanted);
    expect(summaryOf(response)).toEqual(ids(2, 1, 3));
    for (const { channel } of itemsOf(response)) {
      expect(channel).toEqual((await app.service.get(`/api/channel/${channel?.channelId}`)).json());
    }
  });

  test('loads a channel once, even if the request names it in several ways', async () => {
    const app = await start();
    const wanted = [...ids(7, 7), '@number-7', '@NUMBER-7', numberedChannelId(7)];
    expect(summaryOf(await app.batch(wanted))).toEqual(ids(7, 7, 7, 7, 7));
    expect(app.source.loads.toSorted()).toEqual(['@number-7', numberedChannelId(7)]);
  });

  test('loads at most ten channels; the others are errors that say so, and are loaded by the next requests', async () => {
    const app = await start();
    const wanted = ids(...range(1, 25));
    const first = await app.batch(wanted);
    expect(summaryOf(first)).toEqual([...wanted.slice(0, 10), ...Array(15).fill('upstream_unavailable')]);
    expect(itemsOf(first)[10]?.error).toMatchObject({
      status: 503,
      detail: expect.stringContaining('Request this one again'),
    });
    expect(first.headers['cache-control']).toBe('no-store');
    expect(app.source.loads.toSorted()).toEqual(wanted.slice(0, 10));
    await app.batch(wanted);
    const third = await app.batch(wanted);
    expect(summaryOf(third)).toEqual(wanted);
    expect(third.headers['cache-control']).toBe('public, max-age=3600');
    expect(app.source.loads.toSorted()).toEqual(wanted);
  });

  test('returns stale records, for a minute, for channels that it does not load', async () => {
    const app = await start();
    const old = ids(...range(1, 10));
    const older = ids(...range(11, 15));
    await app.batch(older);
    app.service.clock.advance(60_000);
    await app.batch(old);
    app.service.clock.advance(3_601_000);
    app.source.loads.length = 0;
    const response = await app.batch([...older, ...old, numberedChannelId(99)]);
    expect(summaryOf(response)).toEqual([...older, ...old, numberedChannelId(99)]);
    expect(response.headers['cache-control']).toBe('public, max-age=60');
    // The channel without a record, and the least stale ones.
    expect(app.source.loads.toSorted()).toEqual([...old.slice(0, 9), numberedChannelId(99)]);
  });

  test('has an error for each channel without a record, and is not cacheable if a source failed', async () => {
    const app = await start();
    const response = await app.batch(['@nobody', BLOCKED, numberedChannelId(1)]);
    expect(itemsOf(response).map(({ error }) => error?.status)).toEqual([404, 451, undefined]);
    expect(summaryOf(response)).toEqual(['channel_not_found', 'channel_blocked', numberedChannelId(1)]);
    expect(Object.keys(itemsOf(response)[0]?.error ?? {})).toEqual(['status', 'code', 'detail']);
    // The rest of the minute for which the channel counts as absent.
    expect(response.headers['cache-control']).toBe('public, max-age=60');
    app.source.failure = new AppError('upstream_timeout', 'The upstream did not respond in time.');
    const failed = await app.batch([numberedChannelId(1), numberedChannelId(2)]);
    expect(summaryOf(failed)).toEqual([numberedChannelId(1), 'upstream_timeout']);
    expect(failed.headers['cache-control']).toBe('no-store');
    expect((await app.batch([BLOCKED])).headers['cache-control']).toBe('no-store');
  });

  test('may be cached for the shortest remaining time of its records', async () => {
    const app = await start();
    await app.batch(ids(1));
    app.service.clock.advance(600_000);
    const mixed = await app.batch(ids(1, 2));
    expect(mixed.headers['cache-control']).toBe('public, max-age=3000');
    expect(mixed.headers['cache-status']).toBe('pennant; fwd=uri-miss; stored');
    const cached = await app.batch(ids(1, 2));
    expect(cached.headers['cache-status']).toBe('pennant; hit; ttl=3000');
  });

  test('is validated by its ETag', async () => {
    const app = await start();
    const first = await app.batch(ids(1, 2));
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[^"]+"$/);
    const confirmed = await app.batch(ids(1, 2), { 'if-none-match': etag });
    expect([confirmed.status, confirmed.text, confirmed.headers.etag]).toEqual([304, '', etag]);
    expect((await app.batch(ids(2, 1))).headers.etag).not.toBe(etag);
  });

  test('waits at most 11 s for a slow source, and has the records of the others', async () => {
    const app = await start();
    await app.batch(ids(1));
    const held = app.source.hold();
    const response = app.batch(ids(1, 2));
    await held.begun;
    app.service.clock.advance(11_000);
    expect(summaryOf(await response)).toEqual([numberedChannelId(1), 'upstream_timeout']);
    held.release();
  });

  test('counts as one request of the limit', async () => {
    const app = await start({ RATE_LIMIT_OVERRIDES: '' });
    const response = await app.batch(ids(1, 2, 3));
    expect(response.headers.ratelimit).toBe('"default";r=9;t=30');
  });
});

describe('a slip in a batch', () => {
  test.each([
    ['a bare name', 'pennant', '"pennant" is neither a channel ID nor an @handle. Did you mean /@pennant?'],
    ['an ID in lower case', numberedChannelId(1).toLowerCase(), 'Channel IDs are case-sensitive.'],
    ['control characters', '@\u001b\u202e', '"@\\u{1b}\\u{202e}" is neither'],
    ['a long text', `@${'x'.repeat(4_000)}`, `"@${'x'.repeat(59)}…" is neither`],
  ])('is an error of that item: %s', async (_what, slip, detail) => {
    const app = await start();
    const response = await app.batch([numberedChannelId(1), slip, numberedChannelId(2)]);
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'public, max-age=3600']);
    expect(summaryOf(response)).toEqual([numberedChannelId(1), 'invalid_parameter', numberedChannelId(2)]);
    expect(itemsOf(response)[1]).toMatchObject({ identifier: slip, error: { status: 400 } });
    expect(itemsOf(response)[1]?.error?.detail).toContain(detail);
    expect(app.source.loads).toHaveLength(2);
  });

  test('is none if it is a blank or an empty item', async () => {
    const app = await start();
    const query = `ids=,%20${ids(1)}%20,,&ids=&ids=+@number-2,%09`;
    const response = await app.service.get(`/api/channels?${query}`);
    expect(itemsOf(response).map(({ identifier }) => identifier)).toEqual([numberedChannelId(1), '@number-2']);
    const fifty = Array.from({ length: 50 }, () => numberedChannelId(1));
    expect(itemsOf(await app.service.get(`/api/channels?ids=,${fifty.join(',,')},`))).toHaveLength(50);
  });
});

describe('a batch that is refused', () => {
  const service = useTestApp({ sources: [createCountedSource()] });

  test.each([
    ['no parameter', '', '"ids" is missing'],
    ['an empty list', '?ids=', '"ids" is empty'],
    ['nothing but commas and blanks', '?ids=,%20,', '1 to 50 channel IDs and @handles'],
    ['51 values', `?ids=${ids(...range(1, 51))}`, '"ids" has 51 values. At most 50 are allowed.'],
    ['51 in two lists', `?ids=${ids(...range(1, 25))}&ids=${ids(...range(26, 51))}`, 'At most 50 are allowed.'],
  ])('for %s names the mistake', async (_what, query, fault) => {
    const response = await service.get(`/api/channels${query}`);
    expect([response.status, response.json().code]).toEqual([400, 'invalid_parameter']);
    const detail = String(response.json<{ detail: string }>().detail);
    expect(detail).toContain(fault);
    expect(detail.length).toBeLessThan(400);
  });
});

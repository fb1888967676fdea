import { crc32 } from 'node:zlib';
import { RESP_TYPES } from '@redis/client';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sniffFormat } from '../../src/domain/formats.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { answerStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { expectFormerAnswer, FORMER_ANSWERS, readFormer } from '../helpers/former-data.ts';
import { connectTo, createRedisClock, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';

/** A key that the former version has written. */
interface FormerKey {
  readonly key: string;
  readonly type: 'string' | 'stream' | 'list';
  readonly ttlMs: number;
  /** A string as base64, the items of a list, or the IDs and fields of a stream's entries. */
  readonly value: unknown;
}

interface FormerRedis {
  /** The service's wall clock. */
  readonly writtenMs: number;
  /** The requests that created these keys. */
  readonly urls: readonly string[];
  readonly entries: readonly FormerKey[];
}

type StreamEntry = readonly [id: string, fields: readonly string[]];

const FORMER = readFormer<FormerRedis>('redis.json');
/** The absence of a channel is stored for a minute, everything else for longer. */
const PAUSE_MS = 10_000;
/** Allows for the time that passes on Redis's own clock during the test. */
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LIMIT = { RATE_LIMIT: '1000/3600', RATE_LIMIT_OVERRIDES: '' };
const PURGED = 'UCreplayHarbour000000002';
const KEPT = 'UCreplayLighthouse000001';
const REFINED = `/${KEPT}/avatar.avif`;
const ORIGINAL = /^pennant:bytes2:original\//;

/** What other versions rely on: the form of a value, the names and types of its JSON fields, the length of its times. */
function formOf(key: string, type: string, value: unknown): unknown {
  if (type === 'list') return (value as readonly string[]).map(maskDigits).slice(0, 1);
  if (type === 'stream')
    return (value as readonly StreamEntry[]).map(([id, fields]) => [maskDigits(id), fields.map(textForm)]);
  const bytes = Buffer.from(String(value), 'base64');
  if (key.startsWith('pennant:bytes')) return pictureForm(key.replace(/^pennant:bytes\d+:/, ''), bytes);
  const [, head = '', text = ''] = /^([\d.@-]* )?(.*)$/s.exec(bytes.toString()) ?? [];
  return [maskDigits(head), textForm(text)];
}

function pictureForm(key: string, value: Buffer): unknown {
  const bytesAt = 5 + value.readUInt8(4);
  return {
    isChecksumRight: crc32(value.subarray(4), crc32(key)) === value.readUInt32BE(),
    position: maskDigits(value.toString('latin1', 5, bytesAt)),
    format: sniffFormat(value.subarray(bytesAt)),
  };
}

function maskDigits(text: string): string {
  return text.replace(/\d/g, '0');
}

function textForm(text: string): unknown {
  return text.startsWith('{') ? shapeOf(JSON.parse(text)) : maskDigits(text);
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
}

describe.skipIf(!findRedisServer())('a Redis with data of a former version', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  /** The rate limit's list has past times of Redis's own clock. */
  async function restoreFormer(): Promise<void> {
    const connection = await connectTo(server);
    for (const { key, type, ttlMs, value } of FORMER.entries) {
      if (type === 'list') continue;
      if (type === 'string') await connection.run((redis) => redis.set(key, Buffer.from(String(value), 'base64')));
      else for (const [id, fields] of value as readonly StreamEntry[]) await server.command('XADD', key, id, ...fields);
      await server.command('PEXPIRE', key, String(Math.max(ttlMs, HOUR_MS)));
    }
    connection.close();
  }

  async function startAt(nowMs: number, env: Record<string, string>): Promise<TestApp> {
    const clock = createRedisClock();
    clock.advance(nowMs - clock.now());
    const instance = await startTestApp({ clock, env: { REDIS_URL: server.url, ...LIMIT, ...env } });
    onTestFinished(() => instance.close());
    expect(await instance.metric('pennant_redis_usable')).toBe(1);
    return instance;
  }

  async function formOfKey(key: string): Promise<readonly [string, unknown]> {
    const connection = await connectTo(server);
    try {
      const type = await connection.run((redis) => redis.type(key));
      return [key, formOf(key, type, await readValue(key, type))];
    } finally {
      connection.close();
    }

    async function readValue(key: string, type: string): Promise<unknown> {
      if (type === 'list') return server.command('LRANGE', key, '0', '-1');
      if (type === 'stream') return server.command('XRANGE', key, '-', '+');
      const bytes = await connection.run((redis) =>
        redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get(key),
      );
      return bytes?.toString('base64');
    }
  }

  async function ownKeys(): Promise<string[]> {
    const keys = (await server.command('KEYS', '*')) as string[];
    return keys.filter((key) => key !== 'pennant:probe').sort();
  }

  test('serves all of its data to an instance of this version', async () => {
    await restoreFormer();
    const upstream = await startFakeUpstream(answerStatus(500));
    onTestFinished(() => upstream.close());
    const instance = await startAt(FORMER.writtenMs + PAUSE_MS, youtubeSettings(upstream.origin));
    for (const former of FORMER_ANSWERS.filter(({ url }) => FORMER.urls.includes(url)))
      await expectFormerAnswer(instance, former);
    expect(upstream.requests).toEqual([]);
    expect(instance.app.encoderStats().processes).toBe(0);
  });

  test('announces changes made by that version to an instance of this one', async () => {
    await restoreFormer();
    const upstream = await startFakeUpstream(answerStatus(500));
    onTestFinished(() => upstream.close());
    const instance = await startAt(FORMER.writtenMs + PAUSE_MS, youtubeSettings(upstream.origin));
    const record = `/channel/${KEPT}`;
    expect((await instance.get(record)).headers['cache-status']).toMatch(/^pennant; hit/);
    for (const { key, value } of FORMER.entries.filter(({ type }) => type === 'stream')) {
      const fields = (value as readonly StreamEntry[]).flatMap(([, each]) => each);
      await server.command('XADD', key, '*', ...fields.map((field) => field.replaceAll(PURGED, KEPT)));
    }
    await expect.poll(async () => (await instance.getLater(record)).status).toBe(503);
  });

  test('gets the same keys and forms of values from this version, so that both can run side by side', async () => {
    const [original] = FORMER.entries.filter(({ key }) => ORIGINAL.test(key));
    const stored = Buffer.from(String(original?.value), 'base64');
    const bytes = stored.subarray(5 + stored.readUInt8(4));
    const replay = await startReplayServer({ image: answerStatus(200, { 'content-type': 'image/jpeg' }, bytes) });
    onTestFinished(() => replay.close());
    const instance = await startAt(FORMER.writtenMs, youtubeSettings(replay.origin));
    await instance.get(`/channel/${PURGED}`);
    expect((await instance.purge({ channel: PURGED })).status).toBe(200);
    for (const url of [...FORMER.urls, REFINED, REFINED]) await instance.get(url);
    instance.clock.advance(MINUTE_MS);
    const former = FORMER.entries.map(({ key }) => key);
    await expect
      .poll(async () => {
        instance.clock.advance(1_000);
        await instance.get(REFINED);
        return ownKeys();
      })
      .toEqual(expect.arrayContaining(former));

    // Redis drops the absence of a channel after a minute of its own time.
    for (const url of FORMER.urls) await instance.get(url);
    expect(await ownKeys()).toEqual(former);
    const forms = await Promise.all(former.map(formOfKey));
    // Versions ignore unknown fields.
    expect(forms).toMatchObject(FORMER.entries.map(({ key, type, value }) => [key, formOf(key, type, value)]));
  });
});

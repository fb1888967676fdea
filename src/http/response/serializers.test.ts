import { Registry } from '@prometheus-io/client';
import { describe, expect, it } from 'vitest';
import { numberedChannelId, testChannel } from '../../../test/helpers/fake-source.ts';
import { measureHeldBytes } from '../../../test/helpers/heap.ts';
import { readBound } from '../../../test/helpers/runtime.ts';
import type { Channel } from '../../domain/channel.ts';
import { createRecordBodies } from './serializers.ts';

function channel(number: number, description: string): Channel {
  const avatar = { kind: 'remote', key: `${number}`, urls: [] } as const;
  return testChannel(numberedChannelId(number), { description, avatar });
}

const STYLE = { urlForm: 'api' } as const;
const BASE = 'http://pennant.test';

function create(maxBytes?: number) {
  const metrics = new Registry();
  const bodyOf = createRecordBodies({ ...STYLE, metrics, ...(maxBytes !== undefined && { maxBytes }) });
  return { bodyOf, stats: () => readBound(metrics, 'pennant_record_json') };
}

describe('the JSON of records', () => {
  it('is created once per record and base', async () => {
    const { bodyOf, stats } = create();
    const one = channel(1, 'first');
    expect(bodyOf(one, BASE)).toBe(bodyOf(one, BASE));
    expect(bodyOf(one, 'http://other.test').body).toContain('"avatarUrl":"http://other.test/');
    expect(await stats()).toMatchObject({ entries: 2 });
  });

  it('is created again for a refreshed record', async () => {
    const { bodyOf, stats } = create();
    bodyOf(channel(1, 'first'), BASE);
    expect(bodyOf(channel(1, 'second'), BASE).body).toContain('second');
    expect(await stats()).toMatchObject({ entries: 1 });
  });

  it('is UTF-8, one byte per character', () => {
    const { body, bodyEncoding } = create().bodyOf(channel(1, '旗 🏁'), BASE);
    expect(JSON.parse(Buffer.from(body, bodyEncoding).toString('utf8'))).toMatchObject({ description: '旗 🏁' });
  });

  it('is bounded for any number of hosts, and the least recently used is dropped first', async () => {
    const maxBytes = 100_000;
    const { bodyOf, stats } = create(maxBytes);
    const channels = Array.from({ length: 20 }, (_, number) => channel(number, 'text'));
    for (let host = 0; host < 50; host += 1) {
      for (const one of channels) bodyOf(one, `http://${host}.${'a'.repeat(240)}`);
    }
    const { bytes = 0, entries = 0 } = await stats();
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes * 0.9);
    expect(entries).toBeLessThan(100);
  });

  it.each([
    ['short', 'text', 0],
    ['long', 'text '.repeat(200), 0],
    ['of any script', '旗'.repeat(500), 0],
    ['for a host that is a slice of a long URL', 'text', 6_000],
  ])('counts at least the memory that it takes: %s', async (_what, description, pathLength) => {
    const count = 3_000;
    const channels = Array.from({ length: count }, (_, number) => channel(number, description));
    const { bodyOf, stats } = create(2 ** 30);
    const taken = await measureHeldBytes(() => {
      for (const one of channels) {
        const url = Buffer.from(`${BASE}/${'x'.repeat(pathLength)}`).toString();
        bodyOf(one, url.slice(0, BASE.length));
      }
      return [bodyOf, channels];
    });
    const { bytes = 0 } = await stats();
    expect(bytes).toBeGreaterThan(taken);
    expect(bytes).toBeLessThan(2 * taken);
  });
});

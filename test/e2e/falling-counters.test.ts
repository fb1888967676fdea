import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

// Work in progress, and waiting clients: what is counted up at the beginning must be counted down however it ends. Otherwise
// a bound is reached one day, and the service refuses requests for good.

type Stage = 'source' | 'download' | 'inspect' | 'encode';

const CHANNEL = numberedChannelId(1);
const RECORD = `/channel/${CHANNEL}`;
const IMAGE = `/${CHANNEL}/tv.png`;

/** A service one of whose stages waits until the test ends it. */
async function startHeld(stage: Stage) {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => undefined);
  const pass = async (at: Stage) => (at === stage ? gate.promise : undefined);
  const source = numberedSource();
  const encoder = createFakeEncoder();
  const service = await startForTest({
    sources: [
      {
        ...source,
        async getChannel(id, options) {
          await pass('source');
          return source.getChannel(id, options);
        },
        async search(query, limit, options) {
          await pass('source');
          return source.search(query, limit, options);
        },
      },
    ],
    downloader: {
      async download() {
        await pass('download');
        return Buffer.from('an original');
      },
    },
    encoder: createFakeEncoder({
      async inspect(file, options) {
        await pass('inspect');
        return encoder.inspect(file, options);
      },
      async encode(task, options) {
        await pass('encode');
        return encoder.encode(task, options);
      },
    }),
  });
  const base = `http://127.0.0.1:${await service.listen()}`;
  return { gate, base, held: (holder: string) => service.metric(`pennant_held_entries{holder="${holder}"}`) };
}

const COUNTERS: readonly (readonly [holder: string, path: string, stage: Stage])[] = [
  ['loads of records', RECORD, 'source'],
  ['loads of searches', '/api/search?q=a', 'source'],
  ['clients with batches', `/api/channels?ids=${CHANNEL}`, 'source'],
  ['loads of originals', IMAGE, 'download'],
  ['loads of originals', IMAGE, 'inspect'],
  ['images being made', IMAGE, 'encode'],
];

const ENDINGS = ['succeeds', 'fails', 'fails with a bug', 'is abandoned by its client'] as const;

const CASES = COUNTERS.flatMap((counter) => ENDINGS.map((ending) => [...counter, ending] as const));

test.each(CASES)('"%s" falls to 0 when %s, held at %s, %s', async (holder, path, stage, ending) => {
  const { gate, base, held } = await startHeld(stage);
  const client = new AbortController();
  const response = fetch(base + path, { signal: client.signal }).then(({ status }) => status, String);
  await expect.poll(() => held(holder)).toBe(1);
  if (ending === 'is abandoned by its client') {
    client.abort();
    await response;
  }
  if (ending === 'fails') gate.reject(new AppError('upstream_unavailable', 'It is down.'));
  else if (ending === 'fails with a bug') gate.reject(new Error('a bug'));
  else gate.resolve();
  expect(await response).toEqual(ending === 'succeeds' ? 200 : expect.anything());
  await expect.poll(() => held(holder)).toBe(0);
});

test('"clients with batches" falls to 0 after a batch too many was refused', async () => {
  const { gate, base, held } = await startHeld('source');
  const ask = (number: number) => fetch(`${base}/api/channels?ids=${numberedChannelId(number)}`);
  const accepted = [ask(1), ask(2)];
  await expect.poll(() => held('loads of records')).toBe(2);
  const refused = (await (await ask(3)).json()) as { results: { error?: { code: string } }[] };
  expect(refused.results[0]?.error?.code).toBe('upstream_unavailable');
  gate.resolve();
  await Promise.all(accepted);
  expect(await held('clients with batches')).toBe(0);
  expect(await held('loads of records')).toBe(0);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

// Work in progress, and waiting clients: what is counted up at the beginning must be counted down however it ends. Otherwise
// a bound is reached one day, and the service refuses requests for good.

type Stage = 'source' | 'download' | 'inspect' | 'encode';

/** A service for the tests of a `describe`, one of whose stages waits at a gate. */
function useHeldApp(stage: Stage) {
  let gate: PromiseWithResolvers<void> | undefined;
  const pass = async (at: Stage) => (at === stage ? gate?.promise : undefined);
  const source = numberedSource();
  const encoder = createFakeEncoder();
  const service = useTestApp({
    sources: [
      {
        ...source,
        async getChannel(id, options) {
          await pass('source');
          return source.getChannel(id, options);
        },
        async search(query, options) {
          await pass('source');
          return source.search(query, options);
        },
      },
    ],
    downloader: {
      async download(urls) {
        await pass('download');
        return Buffer.from(`an original of ${urls}`);
      },
    },
    encoder: createFakeEncoder({
      async inspect(readOriginal) {
        await pass('inspect');
        return encoder.inspect(readOriginal);
      },
      async encode(task, options) {
        await pass('encode');
        return encoder.encode(task, options);
      },
    }),
  });
  let base: string;
  beforeAll(async () => {
    base = `http://127.0.0.1:${await service.listen()}`;
  });
  return {
    url: (path: string) => base + path,
    held: (gauge: string) => service.metric(`pennant_${gauge}_entries`),
    /** Shuts the gate. The test opens it. */
    shut() {
      gate = Promise.withResolvers();
      gate.promise.catch(() => undefined);
      return gate;
    },
  };
}

const imageOf = (channel: string) => `/${channel}/tv.png`;

const COUNTERS: readonly (readonly [gauge: string, stage: Stage, pathFor: (channel: string) => string])[] = [
  ['loads_of_records', 'source', (channel) => `/channel/${channel}`],
  ['loads_of_searches', 'source', (channel) => `/api/search?q=about+${channel}`],
  ['loads_of_originals', 'download', imageOf],
  ['loads_of_originals', 'inspect', imageOf],
  ['images_being_made', 'encode', imageOf],
];

const ENDINGS = ['succeeds', 'fails with a bug', 'is abandoned by its client'] as const;

describe.each(COUNTERS)('"%s", held at %s,', (gauge, stage, pathFor) => {
  const { url, held, shut } = useHeldApp(stage);

  test.each(ENDINGS)('falls to 0 when it %s', async (ending) => {
    const gate = shut();
    const client = new AbortController();
    const target = url(pathFor(numberedChannelId(ENDINGS.indexOf(ending))));
    const response = fetch(target, { signal: client.signal }).then(({ status }) => status, String);
    await expect.poll(() => held(gauge)).toBe(1);
    if (ending === 'is abandoned by its client') {
      client.abort();
      await response;
    }
    if (ending === 'fails with a bug') gate.reject(new Error('a bug'));
    else gate.resolve();
    expect(await response).toEqual(ending === 'succeeds' ? 200 : expect.anything());
    await expect.poll(() => held(gauge)).toBe(0);
  });
});

import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID as ID } from '../helpers/fake-source.ts';
import { changeCache, DELETE_IMAGES, DELETE_ORIGINALS } from '../helpers/images.ts';

const urlOf = (number: number) => `https://yt3.ggpht.com/${number}`;
const avatarOf = (number: number) => ({ kind: 'remote', key: urlOf(number), urls: [`${urlOf(number)}=s0`] }) as const;
const ROUNDS = 120;
const HOUR_MS = 3_600_000;

/** A generator of numbers from 0 to 1 (LCG of Numerical Recipes), so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('an ETag never goes out with other bytes, however originals change, are purged or are lost', async () => {
  const random = createRandom(1);
  const below = (count: number) => Math.floor(random() * count);
  async function wait(): Promise<void> {
    for (let turn = below(8); turn > 0; turn -= 1) await setImmediate();
  }
  const source = createHeldSource(avatarOf(0));
  let content = 0;
  const service = await startForTest({
    sources: [source],
    downloader: {
      async download({ key }) {
        const bytes = Buffer.from(`${key} ${content}`);
        await wait();
        return bytes;
      },
    },
    // An encoded image is its original, with the size of the output.
    encoder: createFakeEncoder({
      async encode({ readOriginal, output }) {
        await wait();
        return Buffer.from(`${output.width} ${await readOriginal()}`);
      },
    }),
  });
  const changes: (() => unknown)[] = [
    () => {
      content += 1;
    },
    () => {
      source.avatar = avatarOf(below(3));
      return service.purge(ID);
    },
    () => {
      source.avatar = avatarOf(below(3));
      service.clock.advance(HOUR_MS);
    },
    () => service.purge(ID),
    () => service.clock.advance(25 * HOUR_MS),
    () => changeCache(service.dataDir, DELETE_IMAGES),
    () => changeCache(service.dataDir, DELETE_ORIGINALS),
  ];

  const bytesOf = new Map<string, string>();
  let shown = 0;
  async function request(): Promise<void> {
    await wait();
    const { status, headers, text } = await service.get(`/${ID}/avatar.webp?width=${100 + below(40)}`);
    // A clock that jumps by a day ends the time of requests.
    expect([200, 503, 504]).toContain(status);
    if (status !== 200) return;
    const etag = String(headers.etag);
    expect([etag, bytesOf.get(etag) ?? text]).toEqual([etag, text]);
    bytesOf.set(etag, text);
    shown += 1;
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const requests = Array.from({ length: 8 }, request);
    await wait();
    await changes[below(changes.length)]?.();
    await Promise.all(requests);
    service.clock.advance(1_000);
  }
  expect([bytesOf.size > ROUNDS / 2, shown > ROUNDS * 4]).toEqual([true, true]);
});

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { testChannel } from '../../test/helpers/fake-source.ts';
import { testCache } from '../../test/helpers/read-through.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { ImageStore } from '../image-store/image-store.ts';
import { CACHE_POLICY, type Original } from './cache-policy.ts';
import { createOriginals } from './originals.ts';

const MEBIBYTE = 2 ** 20;
const CHANNEL_ID = 'UClarge________________A';

/** Loads an original of this size. @returns its digest, and the turns of the event loop until it was known */
async function digest(bytes: Buffer) {
  const clock = createManualClock();
  let turns = 0;
  let turnsUntilKnown: number | undefined;
  const images = {
    findForReading: async () => undefined,
    put() {
      turnsUntilKnown = turns;
    },
  } as unknown as ImageStore;
  const originals = createOriginals({
    catalog: undefined,
    downloader: { download: async () => bytes },
    encoder: {
      warmUp: () => undefined,
      inspect: async () => ({ width: 900, height: 900, format: 'jpeg', hasAlpha: false }),
    },
    images,
    cache: testCache<Original>(CACHE_POLICY.originals, { clock }),
    channels: { reload: async () => testChannel(CHANNEL_ID) },
    runtime: createTestRuntime({ clock }),
  });
  const loading = originals.get(
    testChannel(CHANNEL_ID, { avatar: { kind: 'remote', key: 'large', urls: [] } }),
    'avatar',
  );
  while (turnsUntilKnown === undefined) {
    await nextTurn();
    turns += 1;
  }
  return { digest: (await loading).value.digest, turns: turnsUntilKnown };
}

it('an original of 16 MiB is hashed in four turns of the event loop, and a common one in a single turn', async () => {
  const large = Buffer.alloc(16 * MEBIBYTE, 'pixels');
  const { digest: found, turns } = await digest(large);
  expect(found).toBe(createHash('sha256').update(large).digest('hex').slice(0, 32));
  expect(turns - (await digest(Buffer.alloc(MEBIBYTE))).turns).toBe(3);
});

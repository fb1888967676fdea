import { EventEmitter, once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';

/* The round trips for the first image of a channel without stored data. Calls of one step are made at once. */

interface HeldCall {
  readonly name: string;
  release(): void;
}

/** A service whose upstream responds only when the test tells it to. */
async function startHeldService() {
  const arrivals = new EventEmitter();
  let held: HeldCall[] = [];
  let starts = 0;
  const replay = await startReplayServer({
    async mayRespond(target) {
      const name = nameOf(target);
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ name, release: resolve });
      arrivals.emit('call');
      await promise;
    },
  });
  const encoder = createFakeEncoder({
    warmUp() {
      starts += 1;
    },
  });
  const service = await startTestApp({ env: youtubeSettings(replay.origin), encoder });
  onTestFinished(async () => {
    for (const { release } of held) release();
    await service.close();
    await replay.close();
  });
  return {
    service,
    encoderStarts: () => starts,
    /** Waits until this many calls are pending, and responds to them. */
    async response(count: number): Promise<string[]> {
      while (held.length < count) await once(arrivals, 'call');
      const calls = held;
      held = [];
      for (const { release } of calls) release();
      return calls.map(({ name }) => name).sort();
    },
  };
}

function nameOf(target: string): string {
  if (target.startsWith('/feeds/')) return 'feed';
  return /\/youtubei\/v1\/([\w/]+)/.exec(target)?.[1] ?? 'image';
}

test('an image by handle takes one more, and an encoder starts before the original arrives', async () => {
  const { service, response, encoderStarts } = await startHeldService();
  const image = service.get('/@bellrocklight/tv.webp');
  expect(await response(1)).toEqual(['navigation/resolve_url']);
  expect(await response(3)).toEqual(['browse', 'browse', 'feed']);
  expect(encoderStarts()).toBe(0);
  expect(await response(1)).toEqual(['image']);
  expect(encoderStarts()).toBe(1);
  expect((await image).status).toBe(200);
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clientOf } from '../../../test/helpers/clients.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { NEVER_ABORTED } from '../../lib/deadlines.ts';
import { withRequest } from '../../lib/request-scope.ts';
import { createEncoder } from './encoder.ts';

const WHOLE = { left: 0, top: 0 };
const SIZES = { usual: { width: 1_300, height: 1_000 }, large: { width: 1_301, height: 1_000 } };
type Kind = keyof typeof SIZES;
const KINDS = ['usual', 'large'] as const;

/** An encoder whose jobs read their originals until the test ends them. Then they fail, so that no process starts. */
function start(processes: number) {
  const encoder = createEncoder({ processes, clock: createManualClock() });
  const running = new Map<string, () => void>();
  return {
    running: () => [...running.keys()],
    queued: () => encoder.stats().queued,
    /** @param name `network/client…` */
    async submit(name: string, kind: Kind = 'usual'): Promise<void> {
      const size = SIZES[kind];
      const readOriginal = () =>
        new Promise<never>((_, reject) => running.set(name, () => reject(new Error('unreadable'))));
      const image = { originalSize: size, crop: { ...WHOLE, ...size }, output: size } as const;
      const job = { readOriginal, ...image, format: 'avif', quality: undefined } as const;
      withRequest({ requestId: name, client: clientOf(name.replace(/\d+$/, '')) }, () => {
        encoder.encode(job, NEVER_ABORTED).catch(() => undefined);
      });
      await nextTurn();
    },
    async end(name: string): Promise<void> {
      running.get(name)?.();
      running.delete(name);
      await nextTurn();
    },
  };
}

it('whatever arrives, no encoder rests while there is an image for it, and large images leave one encoder', async () => {
  const arrival = fc.record({ client: fc.constantFrom('a/x', 'a/y', 'b/x', 'c/x'), kind: fc.constantFrom(...KINDS) });
  const end = fc.record({ running: fc.nat(3) });
  const events = fc.array(fc.oneof(arrival, end), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), events, async (processes, happening) => {
      const encoder = start(processes);
      const waiting = new Map<string, Kind>();
      for (const [at, event] of happening.entries()) {
        if ('running' in event) await encoder.end(encoder.running()[event.running] ?? '');
        else {
          waiting.set(`${event.client}-${event.kind}${at}`, event.kind);
          await encoder.submit(`${event.client}-${event.kind}${at}`, event.kind);
        }
        const running = encoder.running();
        for (const name of running) waiting.delete(name);
        expect(encoder.queued()).toBe(waiting.size);
        const large = running.filter((name) => name.includes('large')).length;
        expect(large).toBeLessThanOrEqual(Math.max(1, processes - 1));
        const isFree = { usual: running.length < processes, large: running.length < Math.max(1, processes - 1) };
        expect([...waiting.values()].filter((kind) => isFree[kind])).toEqual([]);
      }
    }),
  );
});

import type { Clock } from '../lib/clock.ts';
import type { KeptText } from '../sources/source.ts';
import { type KeptName, keptKey } from './keys.ts';
import type { Store } from './store.ts';

const FOR_GOOD_MS = 100 * 365 * 86_400_000;

/** A text in the store: its failures are the store's to report. */
export function createKeptText(store: Store, clock: Clock, name: KeptName): KeptText {
  return {
    async read() {
      return (await store.get(keptKey(name)))?.value;
    },
    write: (text) => store.set(keptKey(name), { value: text, storedAtMs: clock.now() }, FOR_GOOD_MS),
  };
}

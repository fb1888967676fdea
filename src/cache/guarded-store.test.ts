import { expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createGuardedStore } from './guarded-store.ts';
import type { ErasableStore } from './store.ts';

const ENTRY = { value: '1', storedAtMs: 0 };

/** A store whose reads and writes fail as they are told to. */
function createBrokenStore() {
  const broken = { reads: false, writes: false };
  const fail = (isBroken: boolean) => {
    if (isBroken) throw new Error('broken');
  };
  const store: ErasableStore = {
    async get() {
      fail(broken.reads);
      return undefined;
    },
    async set() {
      fail(broken.writes);
    },
    async delete() {
      fail(broken.writes);
    },
    async eraseChannels() {
      fail(broken.writes);
      return [];
    },
    async eraseAll() {
      fail(broken.writes);
    },
    async close() {},
  };
  const states: boolean[] = [];
  const onStateChange = ({ isWorking }: { isWorking: boolean }) => states.push(isWorking);
  return {
    broken,
    states,
    guarded: createGuardedStore({ store, clock: createManualClock(), readTimeoutMs: 500, onStateChange }),
  };
}

it('a full disk is told once, however many reads succeed meanwhile, and again when writes do', async () => {
  const { broken, states, guarded } = createBrokenStore();
  broken.writes = true;
  for (let count = 0; count < 3; count += 1) {
    await guarded.set('key', ENTRY, 1_000);
    await guarded.get('key');
  }
  expect([states, guarded.isWorking()]).toEqual([[false], false]);
  broken.writes = false;
  await guarded.set('key', ENTRY, 1_000);
  expect([states, guarded.isWorking()]).toEqual([[false, true], true]);
});

it('works again only when it can be read and written', async () => {
  const { broken, states, guarded } = createBrokenStore();
  broken.reads = true;
  broken.writes = true;
  await guarded.get('key');
  await guarded.set('key', ENTRY, 1_000);
  broken.reads = false;
  await guarded.get('key');
  expect(states).toEqual([false]);
  broken.writes = false;
  await guarded.delete('key');
  expect(states).toEqual([false, true]);
});

it('hides no failure to erase', async () => {
  const { broken, guarded } = createBrokenStore();
  broken.writes = true;
  await expect(guarded.eraseChannels(new Set())).rejects.toThrow('broken');
  await expect(guarded.eraseAll()).rejects.toThrow('broken');
});

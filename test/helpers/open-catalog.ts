import { expect, onTestFinished } from 'vitest';
import { channelIdRef } from '../../src/domain/identifier.ts';
import { createCatalog } from '../../src/sources/catalog/catalog.ts';
import { LOOK_INTERVAL_MS } from '../../src/sources/catalog/changes.ts';
import { importLines } from './catalog.ts';
import { createManualClock } from './clock.ts';
import { numberedChannelId } from './fake-source.ts';

/** The catalog of a folder, on a movable clock, until the test ends. */
export function openTestCatalog(dataDir: string, samplesDir: string | null = null) {
  const clock = createManualClock();
  const states: (string | null)[] = [];
  const catalog = createCatalog({ dataDir, samplesDir, clock, onStateChange: (problem) => states.push(problem) });
  onTestFinished(() => catalog.close());
  /** As long as a command waits after its last commit. */
  const seeChange = () => clock.advance(LOOK_INTERVAL_MS);
  return {
    catalog,
    clock,
    states,
    seeChange,
    /** Imports as a command does, once the catalog has been opened. */
    async importChannels(...lines: string[]) {
      await catalog.opened();
      expect((await importLines(dataDir, lines)).refusals).toEqual([]);
      seeChange();
    },
    titleOf: async (number: number) => (await catalog.find(channelIdRef(numberedChannelId(number))))?.title,
    titlesFound: async (query: string) => (await catalog.search(query, 20, PATIENT)).map(({ title }) => title),
    entries: () => catalog.holders['rows of the catalog']?.().entries,
    close: () => catalog.close(),
  };
}

export const PATIENT = new AbortController().signal;

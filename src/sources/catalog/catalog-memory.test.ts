import { describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import { measureHeldBytes, memoryTest } from '../../../test/helpers/heap.ts';
import { openTestCatalog, PATIENT } from '../../../test/helpers/open-catalog.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { channelIdRef } from '../../domain/identifier.ts';

const CHANNELS = 1_500;

async function openLarge() {
  const dataDir = await createTemporaryDirectory();
  const lines = Array.from({ length: CHANNELS }, (_, number) => {
    return catalogLine(number, { customUrl: `@name${number}`, description: `${number} `.repeat(40), avatarFile: null });
  });
  await importLines(dataDir, lines);
  const { catalog } = openTestCatalog(dataDir);
  await catalog.search('channel', 50, PATIENT);
  return { catalog, held: () => catalog.holders['rows of the catalog']?.() ?? {} };
}

describe('the rows that the catalog keeps in memory', () => {
  memoryTest('count at least the memory that they take', async () => {
    const { catalog, held } = await openLarge();
    const takenBytes = await measureHeldBytes(async () => {
      for (let number = 0; number < CHANNELS; number += 1) {
        await catalog.find(channelIdRef(numberedChannelId(number)));
        await catalog.find(channelIdRef(numberedChannelId(CHANNELS + number)));
      }
      for (let number = 0; number < 100; number += 1) await catalog.search(`channel ${number}`, 50, PATIENT);
    });
    expect(held().entries).toBeGreaterThan(2 * CHANNELS);
    expect(takenBytes).toBeLessThan(held().bytes ?? 0);
  });

  it('are bounded, names without a channel included', async () => {
    const { catalog, held } = await openLarge();
    for (let number = 0; number < 14_000; number += 1) {
      await catalog.find(handleRef(`nobody${number}`));
    }
    const { entries = 0, bytes = 0, maxBytes = 0 } = held();
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(entries).toBeGreaterThan(8_000);
    expect(entries).toBeLessThan(14_000);
  });
});

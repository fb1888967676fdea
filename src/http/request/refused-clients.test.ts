import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { createRefusedClients } from './refused-clients.ts';

const FIVE_MINUTES_MS = 300_000;

function noteNetworks(refused: ReturnType<typeof createRefusedClients>, networks: number, first: number): void {
  for (let number = first; number < first + networks; number += 1) {
    refused.note(`${number >> 8}.${number & 255}.7.9`);
  }
}

test('refused networks are bounded, and those refused longest ago are forgotten first', () => {
  const clock = createManualClock();
  const refused = createRefusedClients({ clock });
  noteNetworks(refused, 5_000, 2_560);
  expect(refused.stats()).toEqual({ entries: 2_000, maxEntries: 4_000 });
  clock.advance(FIVE_MINUTES_MS);
  noteNetworks(refused, 5_000, 20_000);
  expect(refused.stats()).toEqual({ entries: 4_000, maxEntries: 4_000 });
  const [first] = refused.list(1);
  expect(first?.refused).toBe(1);
  expect(refused.list(5_000).map(({ network }) => network)).toContain('97.167.7.0/24');
  clock.advance(2 * FIVE_MINUTES_MS);
  expect(refused.stats().entries).toBe(0);
});

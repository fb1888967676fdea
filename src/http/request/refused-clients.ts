import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { formatAddress, networkOf, parseAddress } from './client.ts';

const PERIOD_MS = 5 * 60_000;
/** The current period and the previous one. */
const PERIODS = 2;
/** Networks of each period. A flood from many networks must not fill the memory, so the oldest are dropped. */
const MAX_NETWORKS = 2_000;

export type RefusedClients = ReturnType<typeof createRefusedClients>;

/** Clients that the rate limit refuses: networks only, in memory only, dropped after ten minutes. */
export function createRefusedClients({ clock }: { readonly clock: Clock }) {
  let current = createPeriod();
  let previous = createPeriod();
  let beganAtMs = clock.monotonic();

  function turn(): void {
    const elapsedMs = clock.monotonic() - beganAtMs;
    if (elapsedMs < PERIOD_MS) return;
    previous = elapsedMs < 2 * PERIOD_MS ? current : createPeriod();
    current = createPeriod();
    beganAtMs = clock.monotonic();
  }

  function networks(): Set<string> {
    return new Set([...current.keys(), ...previous.keys()]);
  }

  return {
    note(address: string): void {
      turn();
      const network = cutAddress(address);
      current.set(network, (current.get(network) ?? 0) + 1);
    },

    /** The networks with the most refusals in the last five to ten minutes, most first. */
    list(limit: number): readonly { readonly network: string; readonly refused: number }[] {
      turn();
      return [...networks()]
        .map((network) => ({ network, refused: (current.peek(network) ?? 0) + (previous.peek(network) ?? 0) }))
        .sort((a, b) => b.refused - a.refused)
        .slice(0, limit);
    },

    stats(): { readonly entries: number; readonly maxEntries: number } {
      turn();
      return { entries: networks().size, maxEntries: PERIODS * MAX_NETWORKS };
    },
  };
}

function createPeriod(): LRUCache<string, number> {
  return new LRUCache({ max: MAX_NETWORKS });
}

/**
 * The network of an address, for display: `203.0.113.0/24`, `2001:db8:17::/48`. It does not identify a single client.
 * A text that is not an address becomes `other`.
 */
export function cutAddress(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return 'other';
  return typeof address === 'number' ? `${formatAddress(address & ~0xff)}/24` : networkOf(address, 48);
}

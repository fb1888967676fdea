import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { networkOf, parseAddress } from './client.ts';

const PERIOD_MS = 5 * 60_000;
/** Networks of each period. A flood from many networks must not fill the memory, so the oldest are dropped. */
const MAX_NETWORKS = 2_000;

export type RefusedClients = ReturnType<typeof createRefusedClients>;

/** Clients that the rate limit refuses: networks only, in memory only, dropped after ten minutes. */
export function createRefusedClients({ clock }: { readonly clock: Clock }) {
  /** The current one and the previous one. */
  let periods = [createPeriod(), createPeriod()] as const;
  let beganAtMs = clock.monotonic();

  /** Starts a new period if the current one is over. */
  function startPeriodIfDue(): void {
    const elapsedMs = clock.monotonic() - beganAtMs;
    if (elapsedMs < PERIOD_MS) return;
    periods = [createPeriod(), elapsedMs < 2 * PERIOD_MS ? periods[0] : createPeriod()];
    beganAtMs = clock.monotonic();
  }

  /** The refusals of each network in both periods. */
  function countRefused(): Map<string, number> {
    startPeriodIfDue();
    const counts = new Map<string, number>();
    for (const period of periods) {
      for (const [network, count] of period.entries()) counts.set(network, (counts.get(network) ?? 0) + count);
    }
    return counts;
  }

  return {
    note(address: string): void {
      startPeriodIfDue();
      const network = cutAddress(address);
      periods[0].set(network, (periods[0].get(network) ?? 0) + 1);
    },

    /** The networks with the most refusals in the last five to ten minutes, most first. */
    list: (limit: number) =>
      [...countRefused()]
        .map(([network, refused]) => ({ network, refused }))
        .sort((a, b) => b.refused - a.refused)
        .slice(0, limit),

    stats: () => ({ entries: countRefused().size, maxEntries: periods.length * MAX_NETWORKS }),
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
  return address === undefined ? 'other' : networkOf(address);
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { entryLimit } from '../../lib/memory-cache.ts';
import { truncateAddress } from './ip-addresses.ts';

const PERIOD_MS = 5 * 60_000;
/** Networks of each period. A flood from many networks must not fill the memory, so the oldest are dropped. */
const MAX_NETWORKS = 2_000;

/** A network whose clients the rate limit refused. */
export interface RefusedNetwork {
  readonly network: string;
  readonly refused: number;
  /** Of the latest refusal, milliseconds since 1970. */
  readonly lastAtMs: number;
}

/** Clients that the rate limit refuses: networks only, in memory only, dropped after ten minutes. */
export interface RefusedClients {
  note(address: string): void;
  /** The networks with the most refusals in the last five to ten minutes, most first. */
  list(limit: number): RefusedNetwork[];
  stats(): { readonly entries: number; readonly maxEntries: number };
}

export function createRefusedClients({ clock }: { readonly clock: Clock }): RefusedClients {
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
  function countRefused(): Map<string, RefusedNetwork> {
    startPeriodIfDue();
    const all = new Map<string, RefusedNetwork>();
    // The previous one first: the time of the latest refusal is in the other.
    for (const period of periods.toReversed()) {
      for (const { network, refused, lastAtMs } of period.values()) {
        all.set(network, { network, refused: refused + (all.get(network)?.refused ?? 0), lastAtMs });
      }
    }
    return all;
  }

  return {
    note(address) {
      startPeriodIfDue();
      const network = truncateAddress(address);
      const refused = (periods[0].get(network)?.refused ?? 0) + 1;
      periods[0].set(network, { network, refused, lastAtMs: clock.now() });
    },

    list: (limit) => [...countRefused().values()].sort((a, b) => b.refused - a.refused).slice(0, limit),

    stats: () => ({ entries: countRefused().size, maxEntries: periods.length * MAX_NETWORKS }),
  };
}

function createPeriod(): LRUCache<string, RefusedNetwork> {
  return new LRUCache(entryLimit(MAX_NETWORKS));
}

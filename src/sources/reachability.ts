import { LocalLimitError } from '../lib/http/call-budget.ts';
import { ConnectionError } from '../lib/http/client.ts';
import { tryToConnect } from '../lib/http/connect.ts';
import { describeFailure, type Logger } from '../lib/logger.ts';
import type { SourceOutcome } from './failover.ts';
import type { ChannelSource } from './source.ts';

/**
 * Finds sources that have not responded since the start, as on a machine without internet access. Each is reported
 * in one line of the log, instead of one line for each failed request.
 */
export function createReachability(sources: readonly ChannelSource[], logger: Logger) {
  /** A source that has responded once is removed. From then on its failures are logged like others. */
  const waiting = new Map(sources.map((source) => [source.name, source]));
  const reported = new Set<string>();

  function markUnreachable(name: string, error: unknown): void {
    if (reported.has(name)) return;
    reported.add(name);
    logger.warn(`${name}: cannot be reached (${describeFailure(error)}). ${ADVICE}`);
  }

  function markReached(name: string): void {
    waiting.delete(name);
    if (reported.delete(name)) logger.info(`${name} works again`);
  }

  async function checkSource(name: string): Promise<void> {
    const origin = waiting.get(name)?.origin;
    if (origin === undefined) return;
    try {
      await tryToConnect(origin);
      if (reported.has(name)) markReached(name);
    } catch (error) {
      if (waiting.has(name)) markUnreachable(name, error);
    }
  }

  return {
    /** Opens a connection to each source that has not responded yet, and sends nothing. Never rejects. */
    async check(): Promise<void> {
      await Promise.all([...waiting.keys()].map(checkSource));
    },
    /** Like `check`, for sources that were reported. */
    async checkReported(): Promise<void> {
      await Promise.all([...reported].map(checkSource));
    },
    /** Whether the log says that the source cannot be reached. */
    isReported: (name: string) => reported.has(name),
    /** @returns true if the log already reports that the source cannot be reached */
    note({ source, outcome, error }: Pick<SourceOutcome, 'source' | 'outcome' | 'error'>): boolean {
      if (!waiting.has(source)) return false;
      if (error instanceof ConnectionError) markUnreachable(source, error);
      else if (!isWithoutResponse(outcome, error)) markReached(source);
      return reported.has(source);
    },
  };
}

const ADVICE =
  'Only the catalog and stored channels are served. Set SOURCES=catalog to serve the catalog without requests to other sources.';

/** The pause or the call budget refused the call, it took too long, or it failed because of a bug. */
function isWithoutResponse(outcome: SourceOutcome['outcome'], error: unknown): boolean {
  return error instanceof LocalLimitError || outcome === 'upstream_timeout' || outcome === 'internal';
}

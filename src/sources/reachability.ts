import { tryToConnect } from '../lib/http/connect.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Pauses } from './pauses.ts';
import type { ChannelSource } from './source.ts';

/** Finds out whether sources can be reached: opens a connection and sends nothing. `Pauses.stateOf` has the result. */
export function createReachability(sources: readonly ChannelSource[], pauses: Pauses) {
  /**
   * Sources to which no connection could be opened. Any other unreachable source stays so until a call succeeds: its calls fail
   * although a connection can be opened.
   */
  const disconnected = new Set<string>();

  async function checkSource({ name, origin }: ChannelSource): Promise<void> {
    if (origin === undefined) return;
    try {
      await tryToConnect(origin);
      if (disconnected.delete(name)) pauses.regainContact(name);
    } catch (error) {
      disconnected.add(name);
      pauses.of(name).loseContact(describeFailure(error));
    }
  }

  return {
    /** At the start, so that the state is known before the first request. Never rejects. */
    async check(): Promise<void> {
      await Promise.all(sources.map(checkSource));
    },
    /** For sources that are unreachable, so that their recovery needs no request. Never rejects. */
    async checkUnreachable(): Promise<void> {
      const isUnreachable = ({ name }: ChannelSource) => pauses.stateOf(name).state === 'unreachable';
      await Promise.all(sources.filter(isUnreachable).map(checkSource));
    },
  };
}

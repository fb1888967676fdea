import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChannelSource } from '../../src/sources/source.ts';

const TURNS = 5;

/** The same source, with every answer, good or bad, some turns of the event loop later. */
export function answeringLate(source: ChannelSource): ChannelSource {
  return {
    name: source.name,
    isLive: source.isLive,
    resolve: (ref, options) => delayed(source.resolve(ref, options)),
    getChannel: (channelId, options) => delayed(source.getChannel(channelId, options)),
    search: (query, limit, options) => delayed(source.search(query, limit, options)),
    close: () => delayed(source.close()),
  };
}

async function delayed<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } finally {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  }
}

import { type GetOptions, NO_PENNANT, Problem, type RequestDeps } from './api.ts';
import type { Identified } from './identify.ts';
import { type ChannelRecord, isRecord } from './image-choice.ts';

const MAX_HITS = 8;
const MAX_CHARACTERS = 100;

/** Records and searches of the instance. */
export function createLookup({ api, instance }: Pick<RequestDeps, 'api' | 'instance'>) {
  return {
    /**
     * @returns `undefined` if a word without an @ names no channel, and is perhaps a text to search for; rejects with
     *   `Problem`
     */
    async findRecord({ kind, path }: Identified, options: GetOptions): Promise<ChannelRecord | undefined> {
      try {
        const found = await api.getJson(`${instance()}${path}`, options);
        if (isRecord(found)) return found;
      } catch (error) {
        if (kind === 'name' && error instanceof Problem && error.code === 'channel_not_found') return undefined;
        throw error;
      }
      throw noPennant();
    },

    /** @returns rejects with `Problem` */
    async findChannels(text: string, options: GetOptions) {
      const query = encodeURIComponent(text.slice(0, MAX_CHARACTERS));
      const { results } = await api.getJson(`${instance()}/api/search?q=${query}&limit=${MAX_HITS}`, options);
      if (!Array.isArray(results)) throw noPennant();
      return results;
    },
  };
}

function noPennant() {
  return new Problem({ status: 200, code: 'unreadable', detail: NO_PENNANT });
}

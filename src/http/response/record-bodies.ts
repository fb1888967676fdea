import { LRUCache } from 'lru-cache';
import type { Channel } from '../../domain/channel.ts';
import { compactCopy } from '../../lib/compact-copy.ts';
import type { HolderStats, Holders } from '../../lib/holders.ts';
import { entityTag } from './response.ts';
import { type JsonBody, recordOf, type UrlForm } from './serializers.ts';

/** The JSON's UTF-8 bytes, one per character: Node writes such a text as it is, together with the header section. */
interface RecordBody extends JsonBody {
  readonly bodyEncoding: 'latin1';
}

/** The JSON of channel records, made once per record and base URL while there is room. */
export interface RecordBodies {
  get(channel: Channel, base: string): RecordBody;
  stats(): HolderStats;
}

export interface RecordBodiesOptions {
  readonly urlForm: UrlForm;
  readonly maxBytes?: number;
  /** Learns what is held. */
  readonly holders?: Pick<Holders, 'add'>;
}

interface Prepared {
  readonly content: RecordBody;
  /** A refreshed record is another object. Weak: the cache of records decides how long a record is kept. */
  readonly channel: WeakRef<Channel>;
}

/** Some 3,000 records. Making one anew takes about as long as sending it. */
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
/** The objects of an entry, its ETag and the cache’s own lists (320 measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 400;

export function createRecordBodies(options: RecordBodiesOptions): RecordBodies {
  const { urlForm, maxBytes = DEFAULT_MAX_BYTES, holders } = options;
  const prepared = new LRUCache<string, Prepared>({
    maxSize: maxBytes,
    sizeCalculation: ({ content }, key) => ENTRY_OVERHEAD_BYTES + key.length + content.body.length,
  });
  const stats = () => ({ entries: prepared.size, bytes: prepared.calculatedSize, maxBytes });
  holders?.add('JSON of records', stats);

  return {
    get(channel, base) {
      const key = `${base} ${channel.channelId}`;
      const known = prepared.get(key);
      if (known !== undefined && known.channel.deref() === channel) return known.content;
      const json = Buffer.from(JSON.stringify(recordOf(channel, base, urlForm)));
      const content = { body: json.toString('latin1'), bodyEncoding: 'latin1', etag: entityTag(json) } as const;
      prepared.set(compactCopy(key), { content, channel: new WeakRef(channel) });
      return content;
    },
    stats,
  };
}

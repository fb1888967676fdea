import { imagePaths, readImageStatistics } from '../image-store/schema.ts';
import { chooseStoreDriver } from '../store/registry.ts';
import { STORED_KINDS, type Statistics } from '../store/stored-kinds.ts';
import { clearCommand, parseCacheConfig, purgeCommand, requireStoreOfService } from './cache/purge.ts';
import { type CommandGroup, defineCommand, formatBytes } from './command.ts';

const statsCommand = defineCommand({
  usage: 'cache stats [--json]',
  summary: 'Shows the stored entries of each kind: number, bytes and the oldest, with the quotas.',
  help: `Changes nothing, and works while the service runs. Values that are only in its memory are not counted.

  records, names       channels, and the channel IDs of handles and user names
  negatives            "no such channel" results, kept for a minute
  searches             results of searches
  published times      exact creation times of channels whose record has only the day
  image details        properties of originals, and which images were re-encoded
  quotas               calls to the YouTube Data API today
  originals, variants  downloaded images, and the images made from them
  own sizes            images with a width, height or quality in the request`,
  options: { json: { type: 'boolean' } },
  async run({ options }, { env, stdout }) {
    const config = parseCacheConfig(env);
    requireStoreOfService(config);
    const { where, maxBytes = null, readStatistics } = chooseStoreDriver(config);
    const stored = await readStatistics();
    const store = sectionOf(where, maxBytes, stored.bytes, stored.kinds);
    const { database } = imagePaths(config.dataDir);
    const storedImages = readImageStatistics(database);
    const images = sectionOf(database, config.imageCacheBytes, storedImages.bytes, storedImages.kinds);
    const asJson = () => `${JSON.stringify({ store, images }, null, 2)}\n`;
    stdout.write(options.json === true ? asJson() : [store, images].map(renderText).join('\n'));
    return true;
  },
});

/**
 * @param maxBytes `null` if the service does not set it
 * @param bytes the total, including the overhead of the store
 */
function sectionOf(where: string, maxBytes: number | null, bytes: number, kinds: Statistics) {
  const shown = Object.entries(kinds).map(([kind, { entries, bytes: ofKind, oldestMs }]) => {
    const oldest = oldestMs === undefined ? null : new Date(oldestMs).toISOString();
    return [kind, { entries, bytes: ofKind, oldest }] as const;
  });
  return { where, bytes, maxBytes, kinds: Object.fromEntries(shown) };
}

const LABEL_CHARACTERS = 16;
const COUNT_CHARACTERS = 10;
const BYTES_CHARACTERS = 12;

function renderText({ where, bytes, maxBytes, kinds }: ReturnType<typeof sectionOf>): string {
  const quota = maxBytes === null ? '' : ` of ${formatBytes(maxBytes)}`;
  const lines = STORED_KINDS.flatMap((kind) => {
    const found = kinds[kind];
    if (found === undefined) return [];
    const label = labelOf(kind).padEnd(LABEL_CHARACTERS);
    const count = String(found.entries).padStart(COUNT_CHARACTERS);
    const oldest = found.oldest === null ? '' : `  oldest ${found.oldest.slice(0, 19)}Z`;
    return [`  ${label}${count}${formatBytes(found.bytes).padStart(BYTES_CHARACTERS)}${oldest}\n`];
  });
  return `${where}: ${formatBytes(bytes)}${quota}\n${lines.join('')}`;
}

/** `own sizes` for `ownSizes`. */
function labelOf(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

export const cacheCommands: CommandGroup = {
  about: 'Cached records, searches and images, in cache.db and images.db, and with REDIS_URL in Redis.',
  commands: { stats: statsCommand, purge: purgeCommand, clear: clearCommand },
};

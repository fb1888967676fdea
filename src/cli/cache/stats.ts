import type { Config } from '../../config/settings.ts';
import { picturesDirectory } from '../../picture-store/file-names.ts';
import { readFileStatistics } from '../../picture-store/file-scan.ts';
import { chooseStore } from '../../store/registry.ts';
import { type KindStatistics, STORED_KINDS, type Statistics, totalBytes } from '../../store/stored-kinds.ts';
import { defineCommand } from '../command.ts';
import { formatBytes } from '../command-line.ts';
import { parseCacheConfig } from './purge-request.ts';

export const statsCommand = defineCommand({
  usage: 'cache stats [--json]',
  summary: 'Shows what is stored: entries, bytes and the oldest of each kind, sizes and quotas.',
  help: `Changes nothing, and may be asked while the service runs; what that has in memory only does not count.

  records, names       channels, and what handles and user names stand for
  negatives            "no such channel", kept for a minute
  searches             answers to search texts
  published times      the exact second a channel was created, where that is not in the record
  picture details      what is known of originals, and which pictures were encoded again
  learned              YouTube's current client version, and what the canary had
  originals, variants  pictures as they came, and what was made of them
  own sizes            pictures with a width, height or quality of the client's own`,
  options: { json: { type: 'boolean' } },
  async run({ options }, { env, stdout }) {
    const config = parseCacheConfig(env);
    const sections = [await readStore(config), await readPictures(config)];
    stdout.write(options.json === true ? renderJson(sections) : sections.map(renderText).join('\n'));
    return true;
  },
});

interface Section {
  readonly name: 'store' | 'pictures';
  readonly where: string;
  /** `undefined` if the service does not set it. */
  readonly maxBytes: number | undefined;
  /** The total, including the store's own overhead. */
  readonly bytes: number;
  readonly kinds: Statistics;
}

async function readStore(config: Config): Promise<Section> {
  const { where, maxBytes, readStatistics } = chooseStore(config);
  return { name: 'store', where, maxBytes, ...(await readStatistics()) };
}

async function readPictures({ dataDir, imageCacheBytes }: Config): Promise<Section> {
  const directory = picturesDirectory(dataDir);
  const kinds = await readFileStatistics(directory);
  return { name: 'pictures', where: directory, bytes: totalBytes(kinds), maxBytes: imageCacheBytes, kinds };
}

function renderJson(sections: readonly Section[]): string {
  const shown = sections.map(({ name, where, bytes, maxBytes = null, kinds }) => [
    name,
    {
      where,
      bytes,
      maxBytes,
      kinds: Object.fromEntries(Object.entries(kinds).map(([kind, of]) => [kind, shownKind(of)])),
    },
  ]);
  return `${JSON.stringify(Object.fromEntries(shown), null, 2)}\n`;
}

function shownKind({ entries, bytes, oldestMs }: KindStatistics) {
  return { entries, bytes, oldest: oldestMs === undefined ? null : new Date(oldestMs).toISOString() };
}

const LABEL_CHARACTERS = 16;
const COUNT_CHARACTERS = 10;
const BYTES_CHARACTERS = 12;

function renderText({ where, bytes, maxBytes, kinds }: Section): string {
  const quota = maxBytes === undefined ? '' : ` of ${formatBytes(maxBytes)}`;
  const lines = STORED_KINDS.flatMap((kind) => {
    const found = kinds[kind];
    return found === undefined ? [] : [`${rowOf(labelOf(kind), found)}\n`];
  });
  return `${where}: ${formatBytes(bytes)}${quota}\n${lines.join('')}`;
}

function rowOf(label: string, { entries, bytes, oldestMs }: KindStatistics): string {
  const oldest = oldestMs === undefined ? '' : `  oldest ${new Date(oldestMs).toISOString().slice(0, 19)}Z`;
  const count = String(entries).padStart(COUNT_CHARACTERS);
  return `  ${label.padEnd(LABEL_CHARACTERS)}${count}${formatBytes(bytes).padStart(BYTES_CHARACTERS)}${oldest}`;
}

/** `ownSizes` → `own sizes` */
function labelOf(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

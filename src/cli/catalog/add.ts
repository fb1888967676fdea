import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../domain/errors.ts';
import { channelIdRef } from '../../domain/identifier.ts';
import { printable } from '../../domain/printable.ts';
import { describeFailure } from '../../lib/logger.ts';
import { parseRecord, RecordRefusedError } from '../../sources/catalog/parse-record.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { type CatalogWriter, openCatalogWriter } from '../../sources/catalog/writer.ts';
import { requireRefs } from '../command-group.ts';
import { StoppedError } from '../command-line.ts';
import type { CatalogCommand, FetchedChannel } from './command.ts';
import { findInCatalog } from './records.ts';

export const addCommand: CatalogCommand = {
  usage: 'catalog add ID|@handle',
  summary: 'Copies one channel with its pictures from the other sources into the catalog.',
  help: `Loads the channel from the live sources in SOURCES, past every cache. Its record and pictures then stay the
same, also if the channel disappears there, until you add, import or remove it again. The URL of a
channel page and a legacy user name work, too. A channel that the catalog has already is replaced.

Exit code: 0 the channel was added, 1 it was not, or fields or pictures are missing, 2 invalid arguments,
130 stopped by SIGINT, 143 stopped by SIGTERM.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { dataDir, stdout, stderr, fetchChannel, onStopSignal }) {
    const refs = requireRefs(argument);
    const stop = new AbortController();
    onStopSignal((signal) => stop.abort(signal));
    let fetched: FetchedChannel;
    try {
      fetched = await fetchChannel(refs, stop.signal);
    } catch (error) {
      if (stop.signal.aborted) throw new StoppedError(stop.signal.reason, 'Nothing was added.');
      if (!(error instanceof AppError)) throw error;
      stderr.write(`${printable(argument)}: ${describeFailure(error)}\n`);
      return false;
    }
    try {
      const { record, isReplaced } = await store(dataDir, fetched);
      stdout.write(
        `${isReplaced ? 'Replaced' : 'Added'} ${record.channelId} (${printable(record.title)})${picturesOf(record)}.\n`,
      );
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      stderr.write(`${fetched.channel.channelId}: ${error.message}\n`);
      return false;
    }
    const { missing } = fetched;
    if (missing.length > 0)
      stderr.write(`Missing, because a request failed: ${missing.join(', ')}. Run the command again later.\n`);
    return missing.length === 0;
  },
};

interface Added {
  readonly record: CatalogRecord;
  readonly isReplaced: boolean;
}

/** @throws RecordRefusedError if the catalog does not accept the record */
async function store(dataDir: string, fetched: FetchedChannel): Promise<Added> {
  const { banner, avatar } = fetched;
  const folder = mkdtempSync(join(tmpdir(), 'pennant-add-'));
  let writer: CatalogWriter | undefined;
  try {
    if (banner !== undefined) writeFileSync(join(folder, 'banner'), banner);
    if (avatar !== undefined) writeFileSync(join(folder, 'avatar'), avatar);
    // Before the lookup, because this creates a missing catalog.
    writer = openCatalogWriter(catalogPaths(dataDir));
    const former = await findInCatalog(dataDir, [channelIdRef(fetched.channel.channelId)]);
    const record = recordOf(fetched, former);
    const [outcome] = writer.putBatch([record], folder);
    if (outcome instanceof RecordRefusedError) throw outcome;
    writer.removeLeftovers();
    return { record, isReplaced: outcome === 'replaced' };
  } finally {
    writer?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Adds the channel like an import, with the same limits.
 *
 * @throws RecordRefusedError
 */
function recordOf({ ref, channel, banner, avatar }: FetchedChannel, former: CatalogRecord | undefined): CatalogRecord {
  const { banner: _banner, avatar: _avatar, ...fields } = channel;
  const username = ref.kind === 'username' ? ref.value : (former?.username ?? null);
  const files = { bannerFile: banner && 'banner', avatarFile: avatar && 'avatar' };
  return parseRecord(JSON.stringify({ ...fields, username, ...files }));
}

function picturesOf({ bannerFile, avatarFile }: CatalogRecord): string {
  const names = [...(bannerFile === null ? [] : ['banner']), ...(avatarFile === null ? [] : ['avatar'])];
  return names.length === 0 ? '' : ` with ${names.join(' and ')}`;
}

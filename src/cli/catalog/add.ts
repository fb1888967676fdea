import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelCopy } from '../../app/channel-copy.ts';
import { parseConfig } from '../../config/settings.ts';
import { AppError } from '../../domain/errors.ts';
import { channelIdRef } from '../../domain/identifier.ts';
import { describeFailure } from '../../lib/logger.ts';
import { printable } from '../../lib/printable.ts';
import { requireWholeImages } from '../../sources/catalog/import.ts';
import { withReader } from '../../sources/catalog/reader.ts';
import { type CatalogRecord, parseRecord, RecordRefusedError } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { defineCommand, requireRefs, StoppedError } from '../command.ts';
import { changeCatalog, unreadCatalogNotice } from './change.ts';
import { createDecoder } from './decoder.ts';

export const addCommand = defineCommand({
  usage: 'catalog add ID|@handle',
  summary: 'Copies one channel with its images from the other sources into the catalog.',
  help: `Loads the channel from the live sources in SOURCES, past every cache. Its record and images then stay the
same, even if the channel disappears there, until you add, import or remove it again. The URL of a
channel page and a legacy user name work, too. A channel that the catalog has already is replaced.

Exit code: 0 the channel was added, 1 it was not, or fields or images are missing, 2 invalid arguments,
130 stopped by SIGINT, 143 stopped by SIGTERM.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { version, env, stdout, stderr, stopSignal }) {
    const refs = requireRefs(argument);
    const config = parseConfig(env);
    const signal = stopSignal();
    let copy: ChannelCopy;
    try {
      const { copyChannel } = await import('../../app/channel-copy.ts');
      copy = await copyChannel(config, refs, version, signal);
    } catch (error) {
      if (signal.aborted) throw new StoppedError(signal.reason, 'Nothing was added.');
      if (!(error instanceof AppError)) throw error;
      stderr.write(`${printable(argument)}: ${describeFailure(error)}\n`);
      return false;
    }
    try {
      const { record, isReplaced, warnings } = await store(config.dataDir, copy, signal);
      for (const warning of warnings) stderr.write(`warning: ${printable(warning)}\n`);
      stdout.write(
        `${isReplaced ? 'Replaced' : 'Added'} ${record.channelId} (${printable(record.title)})${imagesOf(record)}.\n`,
      );
      stderr.write(unreadCatalogNotice(catalogPaths(config.dataDir)));
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      stderr.write(`${copy.channel.channelId}: ${error.message}\n`);
      return false;
    }
    const { missing } = copy;
    if (missing.length > 0)
      stderr.write(`Missing, because a request failed: ${missing.join(', ')}. Run the command again later.\n`);
    return missing.length === 0;
  },
});

/** @throws RecordRefusedError if the catalog does not accept the record */
async function store(dataDir: string, copy: ChannelCopy, signal: AbortSignal) {
  const paths = catalogPaths(dataDir);
  const decoder = createDecoder(signal);
  const folder = mkdtempSync(join(tmpdir(), 'pennant-add-'));
  try {
    for (const [kind, bytes] of Object.entries(copy.images)) {
      if (bytes !== undefined) writeFileSync(join(folder, kind), bytes);
    }
    return await changeCatalog(paths, async (writer) => {
      const ref = channelIdRef(copy.channel.channelId);
      const record = recordOf(copy, await withReader(paths.database, (reader) => reader.findRecord(ref)));
      await requireWholeImages(record, { fromDir: folder, isWhole: decoder.isWhole });
      const warnings: string[] = [];
      const [outcome] = writer.putBatch([record], folder, (_index, warning) => warnings.push(warning));
      if (outcome instanceof RecordRefusedError) throw outcome;
      return { record, isReplaced: outcome === 'replaced', warnings };
    });
  } finally {
    await decoder.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The channel as a record of the catalog, with the limits of an import.
 *
 * @param former the record that it replaces
 * @throws RecordRefusedError
 */
function recordOf({ ref, channel, images }: ChannelCopy, former: CatalogRecord | undefined): CatalogRecord {
  const { banner: _banner, avatar: _avatar, ...fields } = channel;
  const username = ref.kind === 'username' ? ref.value : (former?.username ?? null);
  const files = { bannerFile: images.banner && 'banner', avatarFile: images.avatar && 'avatar' };
  return parseRecord(JSON.stringify({ ...fields, username, ...files }));
}

function imagesOf({ bannerFile, avatarFile }: CatalogRecord): string {
  const names = [...(bannerFile === null ? [] : ['banner']), ...(avatarFile === null ? [] : ['avatar'])];
  return names.length === 0 ? '' : ` with ${names.join(' and ')}`;
}

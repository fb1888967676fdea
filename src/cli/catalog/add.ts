import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '../../config/settings.ts';
import type { OriginalRef } from '../../domain/channel.ts';
import { AppError, errorCodeOf } from '../../domain/errors.ts';
import { type ChannelRef, channelIdRef } from '../../domain/identifier.ts';
import { printable } from '../../domain/printable.ts';
import type { Downloader } from '../../images/download.ts';
import { systemClock } from '../../lib/clock.ts';
import { createLogger, describeFailure } from '../../lib/logger.ts';
import { createRuntime } from '../../lib/runtime.ts';
import { isExact } from '../../services/exact-publish-dates.ts';
import { withReader } from '../../sources/catalog/reader.ts';
import { type CatalogRecord, parseRecord, RecordRefusedError } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { withWriter } from '../../sources/catalog/writer.ts';
import { loadFirst } from '../../sources/source.ts';
import { defineCommand, requireRefs, StoppedError } from '../command.ts';

export const addCommand = defineCommand({
  usage: 'catalog add ID|@handle',
  summary: 'Copies one channel with its pictures from the other sources into the catalog.',
  help: `Loads the channel from the live sources in SOURCES, past every cache. Its record and pictures then stay the
same, even if the channel disappears there, until you add, import or remove it again. The URL of a
channel page and a legacy user name work, too. A channel that the catalog has already is replaced.

Exit code: 0 the channel was added, 1 it was not, or fields or pictures are missing, 2 invalid arguments,
130 stopped by SIGINT, 143 stopped by SIGTERM.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { version, env, stdout, stderr, stopSignal }) {
    const refs = requireRefs(argument);
    const config = parseConfig(env);
    const signal = stopSignal();
    let fetched: FetchedChannel;
    try {
      fetched = await fetchChannel(config, refs, version, signal);
    } catch (error) {
      if (signal.aborted) throw new StoppedError(signal.reason, 'Nothing was added.');
      if (!(error instanceof AppError)) throw error;
      stderr.write(`${printable(argument)}: ${describeFailure(error)}\n`);
      return false;
    }
    try {
      const { record, isReplaced } = await store(config.dataDir, fetched);
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
});

type FetchedChannel = Awaited<ReturnType<typeof fetchChannel>>;

const NOTHING_STORED = { get: async () => undefined, set: async () => undefined };
const PICTURE_KINDS = ['banner', 'avatar'] as const;

/**
 * Loads a channel and its pictures from the live sources in `SOURCES`. Reads and writes no cache.
 *
 * @param refs the first reference that leads to a channel is used
 * @returns `missing`: the fields that no source returned because a call failed, and the pictures that are gone
 * @throws AppError `channel_not_found`; `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` if a source or
 *   an image host failed
 */
async function fetchChannel(config: Config, refs: readonly ChannelRef[], version: string, signal: AbortSignal) {
  const sources = config.sources.filter((name) => name !== 'catalog');
  if (sources.length === 0) {
    throw new AppError('channel_not_found', 'SOURCES names no source that channels could be loaded from.');
  }
  // Loaded when needed: other commands should not wait for it.
  const { createUpstreams } = await import('../../app/upstreams.ts');
  const { failover, downloader, close } = createUpstreams({
    config: { ...config, sources },
    runtime: createRuntime({ clock: systemClock, logger: createLogger({ level: 'silent' }) }),
    stores: { store: NOTHING_STORED, redis: undefined, caches: {} },
    version,
  });
  try {
    const { ref, loaded } = await loadFirst(failover, refs, { signal });
    const { channelId, publishedAt: known, banner, avatar } = loaded.channel;
    const publishedAt = isExact(known) ? known : ((await failover.findPublishedAt(channelId, { signal })) ?? known);
    const channel = { ...loaded.channel, publishedAt };
    const pictures = {
      banner: await download(downloader, banner, signal),
      avatar: await download(downloader, avatar, signal),
    };
    const gone = PICTURE_KINDS.filter((kind) => channel[kind] !== null && pictures[kind] === undefined);
    return { ref, channel, missing: [...loaded.missing, ...gone], pictures };
  } finally {
    await close();
  }
}

/** `undefined` for a picture that is gone. */
async function download(downloader: Downloader, original: OriginalRef | null, signal: AbortSignal) {
  try {
    return original === null ? undefined : await downloader.download(original, { signal });
  } catch (error) {
    if (errorCodeOf(error) === 'image_not_found') return undefined;
    throw error;
  }
}

/** @throws RecordRefusedError if the catalog does not accept the record */
async function store(dataDir: string, fetched: FetchedChannel) {
  const paths = catalogPaths(dataDir);
  const folder = mkdtempSync(join(tmpdir(), 'pennant-add-'));
  try {
    for (const [kind, bytes] of Object.entries(fetched.pictures)) {
      if (bytes !== undefined) writeFileSync(join(folder, kind), bytes);
    }
    return await withWriter(paths, async (writer) => {
      const ref = channelIdRef(fetched.channel.channelId);
      const record = recordOf(fetched, await withReader(paths.database, (reader) => reader.findRecord(ref)));
      const [outcome] = writer.putBatch([record], folder);
      if (outcome instanceof RecordRefusedError) throw outcome;
      return { record, isReplaced: outcome === 'replaced' };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Adds the channel like an import, with the same limits.
 *
 * @throws RecordRefusedError
 */
function recordOf({ ref, channel, pictures }: FetchedChannel, former: CatalogRecord | undefined): CatalogRecord {
  const { banner: _banner, avatar: _avatar, ...fields } = channel;
  const username = ref.kind === 'username' ? ref.value : (former?.username ?? null);
  const files = { bannerFile: pictures.banner && 'banner', avatarFile: pictures.avatar && 'avatar' };
  return parseRecord(JSON.stringify({ ...fields, username, ...files }));
}

function picturesOf({ bannerFile, avatarFile }: CatalogRecord): string {
  const names = [...(bannerFile === null ? [] : ['banner']), ...(avatarFile === null ? [] : ['avatar'])];
  return names.length === 0 ? '' : ` with ${names.join(' and ')}`;
}

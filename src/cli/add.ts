import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownCatalogFolder } from '../app/catalog.ts';
import type { ChannelCopy } from '../app/channel-copy.ts';
import { parseConfig } from '../config/settings.ts';
import { AppError } from '../domain/errors.ts';
import { formatRow, sniffFormat } from '../domain/formats.ts';
import { IMAGE_KINDS, type ImageKind } from '../domain/variants.ts';
import { createDirectory, readTextIfThere, replaceFile } from '../lib/file-system.ts';
import { describeFailure } from '../lib/logger.ts';
import { printable } from '../lib/printable.ts';
import { channelFileOf } from '../sources/catalog/channel-file.ts';
import { imagesDirOf } from '../sources/catalog/files.ts';
import { parseRecord, RecordRefusedError } from '../sources/catalog/record.ts';
import { type Command, requireIdentifiers } from './command.ts';

export const addCommand: Command = {
  usage: 'add CHANNEL…',
  help: `Copies channels with their images into the folder CATALOG (default: catalog in DATA_DIR). A channel is an ID, an
@handle, the URL of its page or a legacy user name. It is loaded from YouTube or the other sources in SOURCES, and
replaces the line of the same channel. It then stays as it is, even if it disappears there.

Exit code: 0 all were added, 1 a channel, field or image is missing, 2 invalid arguments.`,
  argumentName: 'CHANNEL',
  takesSeveral: true,
  async run(args, { version, env, stdout, stderr }) {
    const wanted = args.map((name) => ({ name, identifiers: requireIdentifiers(name) }));
    const config = parseConfig(env);
    const folder = ownCatalogFolder(config);
    const isNew = !existsSync(channelFileOf(folder));
    const { copyChannel } = await import('../app/channel-copy.ts');
    let hasAdded = false;
    let isComplete = true;
    for (const { name, identifiers } of wanted) {
      try {
        const copy = await copyChannel(config, identifiers, version);
        await writeChannel(folder, copy);
        hasAdded = true;
        stdout.write(`Added ${copy.channel.channelId} (${printable(copy.channel.title)}) to ${folder}.\n`);
        if (copy.missing.length === 0) continue;
        const missing = copy.missing.join(', ');
        stderr.write(
          `Missing: ${missing}. A request failed, or its response cannot be read. Run the command again later.\n`,
        );
      } catch (error) {
        if (!(error instanceof AppError || error instanceof RecordRefusedError)) throw error;
        stderr.write(`${printable(name)}: ${describeFailure(error)}\n`);
      }
      isComplete = false;
    }
    if (isNew && hasAdded) stdout.write('The folder is new: restart the service.\n');
    return isComplete;
  },
};

/** @throws RecordRefusedError if the catalog does not accept the record */
async function writeChannel(folder: string, { identifier, channel, images }: ChannelCopy): Promise<void> {
  const { banner: _banner, avatar: _avatar, ...fields } = channel;
  const username = identifier.kind === 'username' ? identifier.value : null;
  const files = new Map(IMAGE_KINDS.map((kind) => [kind, fileNameOf(channel.channelId, kind, images[kind])]));
  const record = { ...fields, username, bannerFile: files.get('banner'), avatarFile: files.get('avatar') };
  const line = JSON.stringify(parseRecord(JSON.stringify(record)));
  createDirectory(imagesDirOf(folder));
  for (const [kind, name] of files) {
    const bytes = images[kind];
    if (name !== null && bytes !== undefined) await replaceFile(join(imagesDirOf(folder), name), bytes);
  }
  const text = (await readTextIfThere(channelFileOf(folder)))?.trimEnd() ?? '';
  const lines = text === '' ? [] : text.split('\n');
  const at = lines.findIndex((other) => other.includes(channel.channelId) && isOf(channel.channelId, other));
  const replaced = at === -1 ? [...lines, line] : lines.with(at, line);
  await replaceFile(channelFileOf(folder), `${replaced.join('\n')}\n`);
}

function fileNameOf(channelId: string, kind: ImageKind, bytes: Buffer | undefined): string | null {
  const format = bytes && sniffFormat(bytes);
  if (format === undefined) return null;
  return `${channelId}-${kind}.${format === 'gif' ? 'gif' : formatRow(format).extension}`;
}

function isOf(channelId: string, line: string): boolean {
  try {
    return parseRecord(line).channelId === channelId;
  } catch (error) {
    if (error instanceof RecordRefusedError) return false;
    throw error;
  }
}

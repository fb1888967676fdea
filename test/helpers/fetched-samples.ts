import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppOverrides } from '../../src/app/build.ts';
import { type Channel, hitOf } from '../../src/domain/channel.ts';
import { AppError } from '../../src/domain/errors.ts';
import { identifierKey } from '../../src/domain/identifier.ts';
import { type CatalogRecord, namesOf, parseRecord } from '../../src/sources/catalog/record.ts';

const SAMPLES = join(import.meta.dirname, '../../samples');

/** The sample channels as if they were YouTube's: they are fetched and kept, and their images are downloaded. */
export function fetchedSamples(): Required<Pick<AppOverrides, 'sources' | 'downloader'>> {
  const lines = readFileSync(join(SAMPLES, 'channels.ndjson'), 'utf8').trim().split('\n');
  const channels = new Map<string, Channel>();
  for (const record of lines.map(parseRecord)) {
    const { handleKey, usernameKey } = namesOf(record);
    const channel = channelOf(record);
    for (const name of [record.channelId, `handle:${handleKey}`, `username:${usernameKey}`])
      channels.set(name, channel);
  }

  async function loaded(name: string) {
    const channel = channels.get(name);
    if (channel === undefined) throw new AppError('channel_not_found', 'There is no such sample.');
    return { channel, isComplete: true, missing: [] };
  }

  return {
    sources: [
      {
        name: 'samples',
        async resolve(identifier) {
          const found = await loaded(identifierKey(identifier));
          return { channelId: found.channel.channelId, loaded: found };
        },
        getChannel: loaded,
        async search(query) {
          const has = ({ title, description }: Channel) => `${title} ${description}`.toLowerCase().includes(query);
          return [...new Set(channels.values())].filter(has).map(hitOf);
        },
      },
    ],
    downloader: { download: ({ key }) => readFile(join(SAMPLES, 'images', key)) },
  };
}

function channelOf({ username: _, bannerFile, avatarFile, ...fields }: CatalogRecord): Channel {
  const imageOf = (key: string | null) => (key === null ? null : ({ kind: 'remote', key, urls: [] } as const));
  return { ...fields, banner: imageOf(bannerFile), avatar: imageOf(avatarFile) };
}

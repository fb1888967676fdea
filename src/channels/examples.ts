import type { Channel, ExampleChannel } from '../domain/channel.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';

/** Returns some channels that this instance has for certain. */
export type Examples = () => Promise<readonly ExampleChannel[]>;

/** The path of the channel's record. */
export function recordPathOf({ channelId, handle }: ExampleChannel): string {
  if (handle === null) return `/api/channel/${channelId}`;
  return `/api/channel/${encodeURIComponent(handle.slice(1).toLowerCase())}?type=handle`;
}

/** The path of a search that finds the channel: by the first word of its title. */
export function searchPathOf({ title }: ExampleChannel): string {
  const [word = title] = title.trim().toLowerCase().split(/\s/);
  return `/api/search?q=${encodeURIComponent(word)}`;
}

const COUNT = 8;

/** There are no examples without a catalog. */
export function createExamples(
  catalog: Pick<Catalog, 'examples'> | undefined,
  blockedChannels: ReadonlySet<string>,
): Examples {
  return async () => {
    const found = (await catalog?.examples(COUNT)) ?? [];
    return found.filter(({ channelId }) => !blockedChannels.has(channelId)).map(exampleOf);
  };
}

function exampleOf({ channelId, title, customUrl, banner, avatar }: Channel): ExampleChannel {
  return { channelId, title, handle: customUrl, hasBanner: banner !== null, hasAvatar: avatar !== null };
}

import type { Channel, ChannelLink, ExampleChannel } from '../../src/domain/channel.ts';
import type { Identifier } from '../../src/domain/identifier.ts';
import { readPasted } from '../../src/domain/pasted.ts';
import type { PageAddress } from './address.ts';
import { type Loading, Problem, startLoading } from './loading.ts';
import { channelInOwnAddress, recordPath } from './own-address.ts';

/** A record as the service sends it. */
export interface ChannelRecord extends Omit<Channel, 'links' | 'banner' | 'avatar'> {
  readonly bannerUrl: string | null;
  readonly avatarUrl: string | null;
  readonly links: readonly ChannelLink[];
}

export type SearchResult = Pick<ChannelRecord, 'channelId' | 'title' | 'customUrl' | 'subscriberCount'>;

/** What the service has for a text: the channel that it names, or search results. */
export type Found =
  | { readonly record: ChannelRecord; readonly results?: undefined }
  | { readonly record?: undefined; readonly results: readonly SearchResult[] };

/** The service that the page belongs to. */
export interface Service {
  /** The beginning of its public URLs: an origin, and the path of a proxy that strips it. */
  readonly base: string;
  readonly examples: readonly ExampleChannel[];
  /** @throws Problem */
  readonly find: (text: string) => Promise<Found>;
  /** Each image is loaded once, when it is first shown. */
  readonly image: (url: string) => Loading<LoadedImage>;
}

/** What the parts of a channel's page show, and where. */
export interface ChannelProps {
  readonly address: PageAddress;
  readonly service: Service;
  readonly record: ChannelRecord;
}

export interface LoadedImage {
  /** The URL of the bytes in this page. */
  readonly src: string;
  /** Width and height are in pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly mediaType: string;
}

/** The service takes less for any response. */
const MAX_RESPONSE_MS = 20_000;
const MAX_RESULTS = 8;
const MAX_QUERY_CHARACTERS = 100;
/** The private listener passes on only requests with this field (src/private/own-requests.ts). */
const OWN_REQUEST = { 'x-pennant-console': 'playground' };
/** The `Accept` that browsers send for an `<img>`. */
const BROWSER_ACCEPT = 'image/avif,image/webp,image/png,image/*;q=0.8,*/*;q=0.5';

/** Asks the private listener, which has the page, for the public address and for channels that the service has. */
export async function connect(): Promise<Service> {
  const config = await fetch('config.json').then(
    (response) => response.json(),
    () => undefined,
  );
  if (config === undefined) throw NO_RESPONSE;
  const { base, channels } = config;

  /** @param path behind the base. The private listener passes it on, even if the public address does not work yet. */
  async function get(path: string, accept: string): Promise<Blob> {
    try {
      const response = await fetch(`instance${path}`, {
        headers: { ...OWN_REQUEST, accept },
        signal: AbortSignal.timeout(MAX_RESPONSE_MS),
      });
      if (!response.ok) throw await problemOf(response);
      return await response.blob();
    } catch (error) {
      throw error instanceof Problem ? error : NO_RESPONSE;
    }
  }

  async function getJson(path: string) {
    return JSON.parse(await (await get(path, 'application/json')).text());
  }

  async function loadImage(url: string): Promise<LoadedImage> {
    const body = await get(url.slice(base.length), BROWSER_ACCEPT);
    const image = new Image();
    image.src = URL.createObjectURL(body);
    try {
      await image.decode();
    } catch {
      throw new Problem({ title: 'Not an image', detail: `This browser cannot show ${body.type || 'it'}.` });
    }
    const { src, naturalWidth: width, naturalHeight: height } = image;
    return { src, width, height, bytes: body.size, mediaType: body.type };
  }

  const images: Map<string, Loading<LoadedImage>> = new Map();

  return {
    base,
    examples: channels,

    async find(text) {
      const named = channelInOwnAddress(text, base) ?? text;
      if (named === '') throw new Problem({ title: 'Not a channel', detail: NO_CHANNEL_HERE });
      const pasted = readPasted(named);
      if (pasted === undefined) {
        const query = encodeURIComponent(text.slice(0, MAX_QUERY_CHARACTERS));
        return getJson(`/api/search?q=${query}&limit=${MAX_RESULTS}`);
      }
      if (pasted.names !== 'channel') throw new Problem({ title: 'Not a channel', detail: OTHER_PAGES[pasted.names] });
      return { record: await getJson(recordPath(pasted.identifiers[0] as Identifier)) };
    },

    image(url) {
      const image = images.get(url) ?? startLoading(() => loadImage(url));
      images.set(url, image);
      return image;
    },
  };
}

const NO_RESPONSE = new Problem({ title: 'No response', detail: 'Is the service running?', canRetry: true });

const NO_CHANNEL_HERE =
  'That address of this instance names no channel. Paste the address of a record, an image or a badge.';

const OTHER_PAGES = {
  video: 'That is a video. Paste the address of its channel.',
  playlist: 'That is a playlist. Paste the address of its channel.',
  'other page': 'That address is not one of a channel. Channel addresses contain /@handle or /channel/UC….',
};

async function problemOf(response: Response): Promise<Problem> {
  const canRetry = [408, 429].includes(response.status) || response.status >= 500;
  return new Problem({ ...(await response.json()), canRetry });
}

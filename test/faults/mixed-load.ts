import { createHttpSender, type HttpSender, type SentAnswer } from '../helpers/http-request.ts';
import { repeat } from '../helpers/load.ts';
import { decodePicture } from '../helpers/picture.ts';

/** The whole sample catalog. Its records never change, so every difference is damage. */
export const CHANNELS = Array.from({ length: 8 }, (_, index) => `UCPennantSample0000000${index + 1}A`);

export const RECORD_URLS = CHANNELS.map((channelId) => `/api/channel/${channelId}`);
const VARIANTS = ['tv', 'desktop', 'tablet', 'mobile', 'avatar'];
const FORMATS = ['jpeg', 'webp', 'avif', 'png'];

/** Width in pixels. */
const SMALL = { from: 40, to: 440 };

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}

/** The only sample without a banner. No other image is missing, so a 404 is a lost image. */
const WITHOUT_BANNER = 'UCPennantSample00000002A';

/** An image that exists and is most likely new, so that it is encoded and written to the disk. */
export function freshPictureUrl({ from, to } = SMALL): string {
  const channelId = pick(CHANNELS);
  const variant = channelId === WITHOUT_BANNER ? 'avatar' : pick(VARIANTS);
  const width = from + Math.floor(Math.random() * (to - from));
  return `/${channelId}/${variant}.${pick(FORMATS)}?width=${width}`;
}

export interface MixedLoad {
  /** Pictures that were received completely. */
  readonly pictureUrls: readonly string[];
  readonly answers: number;
  readonly faults: readonly string[];
  /** Sends no more requests. Resolves when pending ones have ended. */
  stop(): Promise<void>;
}

/**
 * Several clients request records, searches and new pictures until they are stopped or the service has ended.
 *
 * @param removesChannels whether channels are removed meanwhile: then a 404 is no fault
 */
export function startMixedLoad(
  port: number,
  { clients = 6, removesChannels = false }: { readonly clients?: number; readonly removesChannels?: boolean } = {},
): MixedLoad {
  const client = createHttpSender(port);
  const pictureUrls: string[] = [];
  const faults: string[] = [];
  let answers = 0;

  async function ask(): Promise<void> {
    const draw = Math.random();
    const url = draw < 0.3 ? pick(RECORD_URLS) : draw < 0.4 ? '/api/search?q=sample' : freshPictureUrl();
    const answer = await client.send({ url }).catch(() => undefined);
    if (answer === undefined) return;
    answers += 1;
    if (removesChannels && answer.status === 404) return;
    if (answer.status !== 200) faults.push(`${url} answered ${answer.status}`);
    else if (draw >= 0.4) pictureUrls.push(url);
  }

  const work = repeat(clients, ask);
  return {
    pictureUrls,
    faults,
    get answers() {
      return answers;
    },
    async stop() {
      await work.stop();
      client.close();
    },
  };
}

/** Requests pictures. @returns their problems */
export async function findPictureFaults(client: HttpSender, urls: readonly string[]): Promise<string[]> {
  const checks = urls.map(async (url) => findPictureFault(url, await client.send({ url })));
  return (await Promise.all(checks)).filter((fault) => fault !== undefined);
}

/** The problem of a picture response: its status, an empty or a truncated picture. */
export async function findPictureFault(url: string, { status, bytes }: SentAnswer): Promise<string | undefined> {
  if (status !== 200) return `${url} answered ${status}`;
  try {
    await decodePicture(bytes);
    return undefined;
  } catch (error) {
    return `${url} cannot be decoded: ${(error as Error).message}`;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender, type HttpSender, type SentResponse } from '../helpers/http-request.ts';
import { repeat } from '../helpers/load.ts';
import { findResponseFault, findResponseFaults, isOverload, isRefusal } from './response-faults.ts';

/** The whole sample catalog. Its records never change, so every difference is damage. */
export const CHANNELS = Array.from({ length: 8 }, (_, index) => `UCPennantSample0000000${index + 1}A`);

const RECORD_URLS = CHANNELS.map((channelId) => `/api/channel/${channelId}`);
const VARIANTS = ['tv', 'desktop', 'tablet', 'mobile', 'avatar'];
const FORMATS = ['jpeg', 'webp', 'avif', 'png'];

/** Widths in pixels, from the least one on. */
const LEAST_WIDTH = 40;
const WIDTHS = 400;

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}

/** The only sample without a banner. No other image is missing, so a 404 is a lost image. */
const WITHOUT_BANNER = 'UCPennantSample00000002A';

/** An image that exists and is most likely new, so that it is encoded and written to the disk. */
export function freshImageUrl(): string {
  const channelId = pick(CHANNELS);
  const variant = channelId === WITHOUT_BANNER ? 'avatar' : pick(VARIANTS);
  const width = LEAST_WIDTH + Math.floor(Math.random() * WIDTHS);
  return `/${channelId}/${variant}.${pick(FORMATS)}?width=${width}`;
}

export interface MixedLoad {
  /** Images that were received completely. */
  readonly imageUrls: readonly string[];
  readonly responses: number;
  readonly faults: readonly string[];
  /** Requests that the service had no time for: missed bounds on a busy machine. */
  readonly overloads: readonly string[];
  /** The service is killed or stopped now: from here on, lost requests and refusals are no faults. */
  expectEnd(): void;
  /** Sends no more requests. Resolves when pending ones have ended. */
  stop(): Promise<void>;
}

const CLIENTS = 6;
/** Avoids a busy loop while no service listens. */
const AFTER_LOSS_MS = 20;

/** Several clients request records, searches and new images until they are stopped. */
export function startMixedLoad(port: number): MixedLoad {
  const client = createHttpSender(port);
  const imageUrls: string[] = [];
  const faults: string[] = [];
  const overloads: string[] = [];
  let responses = 0;
  let isEnding = false;

  async function ask(): Promise<void> {
    const draw = Math.random();
    const isImage = draw >= 0.4;
    const url = isImage ? freshImageUrl() : draw < 0.3 ? pick(RECORD_URLS) : '/api/search?q=sample';
    let response: SentResponse;
    try {
      response = await client.send({ url });
    } catch (error) {
      if (!isEnding) faults.push(`${url} was not responded to: ${(error as Error).message}`);
      await sleep(AFTER_LOSS_MS);
      return;
    }
    responses += 1;
    if (isEnding && isRefusal(response)) return;
    if (isOverload(response)) {
      overloads.push(`${url} was refused: the machine is too busy`);
      return;
    }
    const fault = await findResponseFault(url, response);
    if (fault !== undefined) faults.push(fault);
    else if (isImage) imageUrls.push(url);
  }

  const work = repeat(CLIENTS, ask);
  return {
    imageUrls,
    faults,
    overloads,
    get responses() {
      return responses;
    },
    expectEnd() {
      isEnding = true;
    },
    async stop() {
      await work.stop();
      client.close();
    },
  };
}

/** Sends requests that must succeed. @returns the faults of their responses */
export async function findFaultsOf(client: HttpSender, urls: readonly string[]): Promise<string[]> {
  const asked = urls.map(async (url) => ({ url, response: await client.send({ url }) }));
  return findResponseFaults(await Promise.all(asked));
}

/** The text of every sample's record, by URL. @throws Error if one is not sent */
export async function readRecords(client: HttpSender): Promise<ReadonlyMap<string, string>> {
  const read = RECORD_URLS.map(async (url) => {
    const response = await client.send({ url });
    const fault = await findResponseFault(url, response);
    if (fault !== undefined) throw new Error(fault);
    return [url, response.bytes.toString('utf8')] as const;
  });
  return new Map(await Promise.all(read));
}

/** @param reference the records as they were sent first */
export async function findChangedRecords(
  client: HttpSender,
  reference: ReadonlyMap<string, string>,
): Promise<string[]> {
  const records = await readRecords(client);
  return [...records].filter(([url, text]) => text !== reference.get(url)).map(([url]) => `${url} has changed`);
}

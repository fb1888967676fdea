import type { PhotoService } from './photo-service.ts';
import type { BenchPicture } from './pictures.ts';

/** Clients that keep every encoder of a service busy. */
export interface EncodingLoad {
  /** Disconnects the clients. Encoders finish what they have begun. */
  stop(): Promise<void>;
}

const AT_ONCE = 12;
const WIDEST = 2_500;
const NARROWEST = 1_000;

/** Number of requested pictures. None is requested twice. */
let asked = 0;

/** Requests new complete banners as AVIF, each as another client behind a trusted proxy. */
export function startEncoding(service: PhotoService, pictures: readonly BenchPicture[]): EncodingLoad {
  const stopped = new AbortController();
  async function askAgainAndAgain(): Promise<void> {
    while (!stopped.signal.aborted) {
      const picture = pictures[asked % pictures.length] as BenchPicture;
      const width = WIDEST - (Math.floor(asked / pictures.length) % (WIDEST - NARROWEST));
      const client = `172.16.${Math.floor(asked / 256) % 256}.${asked % 256}`;
      asked += 1;
      const url = service.urlOf(picture, `tv.avif?width=${width}`);
      await ask(url, client, stopped.signal);
    }
  }
  const clients = Array.from({ length: AT_ONCE }, askAgainAndAgain);
  return {
    async stop() {
      stopped.abort();
      await Promise.all(clients);
    },
  };
}

async function ask(url: string, client: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(url, { headers: { 'X-Forwarded-For': client }, signal });
    const body = await response.arrayBuffer();
    // At their lower priority, encoders may get so little CPU time that clients wait too long.
    if (response.status === 200 || response.status >= 503) return;
    throw new Error(`${url} answered ${response.status}: ${Buffer.from(body)}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

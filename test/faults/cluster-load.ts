import { EventEmitter, once } from 'node:events';
import { createHttpSender } from '../helpers/http-request.ts';
import { repeat } from '../helpers/load.ts';
import { CHANNELS } from './mixed-load.ts';
import { findResponseFault } from './response-faults.ts';

/** A request that did not get the right response. */
export interface Failure {
  readonly url: string;
  readonly reason: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface LoadResult {
  readonly responses: number;
  readonly failures: readonly Failure[];
}

export interface Load {
  /** Resolves when this many more requests have ended. */
  ended(requests: number): Promise<void>;
  stop(): Promise<LoadResult>;
}

const CLIENTS = 8;

/** Clients without a rate limit. Each sends one request after another. Times are monotonic. */
export function startLoad(port: number, urlOf: (request: number) => string): Load {
  const failures: Failure[] = [];
  let responses = 0;
  let requests = 0;
  const progress = new EventEmitter();
  const senders = Array.from({ length: CLIENTS }, (_, client) => createHttpSender(port, `127.1.0.${client + 1}`));

  async function visit(client: number): Promise<void> {
    requests += 1;
    const url = urlOf(requests);
    const startedAtMs = performance.now();
    const reason = await senders[client]?.send({ url }).then(
      (response) => findResponseFault(url, response),
      (error: Error) => error.message,
    );
    if (reason === undefined) responses += 1;
    else failures.push({ url, reason, startedAtMs, endedAtMs: performance.now() });
    progress.emit('ended');
  }

  const visits = repeat(CLIENTS, visit);
  return {
    async ended(count) {
      const end = responses + failures.length + count;
      while (responses + failures.length < end) await once(progress, 'ended');
    },
    async stop() {
      await visits.stop();
      for (const sender of senders) sender.close();
      return { responses, failures };
    },
  };
}

/** Records and images of every sample. Every seventh request is for an image in one of many sizes. */
export function mixedUrl(request: number): string {
  const id = CHANNELS[request % CHANNELS.length] as string;
  switch (request % 7) {
    case 0:
      return `/${id}/avatar.jpg?width=${16 + (request % 400)}`;
    case 1:
    case 2:
      return `/${id}/avatar.webp?width=96`;
    default:
      return `/api/channel/${id}`;
  }
}

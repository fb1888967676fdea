import { realpath } from 'node:fs/promises';
import type { PurgedChannel } from '../../services/purge.ts';
import { CacheCommandError, type CacheContext } from './command.ts';

type Order = { readonly channel: string } | { readonly everything: true };

const ANSWER_MS = 60_000;

/**
 * Has the service do it that runs on this `DATA_DIR`, for it alone can forget what it has in memory. `undefined` where
 * none answers, or one with another `DATA_DIR`, or nothing is known by the name.
 *
 * @throws CacheCommandError when it answers that it cannot
 */
export async function askRunningService(
  { consoleOrigin, dataDir }: CacheContext,
  order: Order,
): Promise<PurgedChannel | undefined> {
  if (consoleOrigin === undefined) return undefined;
  const answer = await post(`${consoleOrigin}/purge`, { ...order, dataDir: await realpath(dataDir) });
  if (answer === undefined) return undefined;
  if (answer.status >= 500) {
    const { detail = `status ${answer.status}` } = (await answer.json().catch(() => ({}))) as { detail?: string };
    throw new CacheCommandError(`The running service at ${consoleOrigin} could not do all of it: ${detail}`);
  }
  return answer.ok ? ((await answer.json()) as PurgedChannel) : undefined;
}

async function post(url: string, body: object): Promise<Response | undefined> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-pennant-console': 'command line' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    // Nobody listens there.
    if (error instanceof TypeError) return undefined;
    throw new CacheCommandError(`${url} has not answered within ${ANSWER_MS / 1000} s.`, { cause: error });
  }
}

import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import type { Environment } from '../../config/environment.ts';
import { type Config, parseConfig } from '../../config/settings.ts';
import type { PurgedChannel } from '../../services/purge.ts';
import { CommandFailure } from '../command-line.ts';

/**
 * Reads the settings of a service that has already run.
 *
 * @throws CommandFailure if there is no DATA_DIR: it would be created, and the mistake not noticed
 */
export function parseCacheConfig(env: Environment): Config {
  const config = parseConfig(env);
  if (statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory() === true) return config;
  throw new CommandFailure(`There is no directory ${config.dataDir}: set DATA_DIR, or give --data-dir DIR.`);
}

type Order = { readonly channel: string } | { readonly everything: true };

const ANSWER_MS = 60_000;

/**
 * Sends the purge to the running service of this `DATA_DIR`, because only it can clear its memory. `undefined` if no
 * service responds, if it has another `DATA_DIR`, or if nothing is known by the name.
 *
 * @throws CommandFailure if the service reports a failure
 */
export async function askRunningService(config: Config, order: Order): Promise<PurgedChannel | undefined> {
  const origin = consoleOrigin(config);
  if (origin === undefined) return undefined;
  const answer = await post(`${origin}/purge`, { ...order, dataDir: await realpath(config.dataDir) });
  if (answer === undefined) return undefined;
  if (answer.status >= 500) {
    const { detail = `status ${answer.status}` } = (await answer.json().catch(() => ({}))) as { detail?: string };
    throw new CommandFailure(`The running service at ${origin} could not do all of it: ${detail}`);
  }
  return answer.ok ? ((await answer.json()) as PurgedChannel) : undefined;
}

/** The address of the private listener on this machine. `undefined`: there is none. */
export function consoleOrigin({ consoleHost, consolePort }: Config): string | undefined {
  if (consolePort === 0) return undefined;
  const host = consoleHost === '0.0.0.0' ? '127.0.0.1' : consoleHost === '::' ? '::1' : consoleHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${consolePort}`;
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
    // Nothing listens at this address.
    if (error instanceof TypeError) return undefined;
    throw new CommandFailure(`${url} has not answered within ${ANSWER_MS / 1000} s.`, { cause: error });
  }
}

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

type PurgeRequest = { readonly channel: string } | { readonly everything: true };

const RESPONSE_MS = 60_000;

/**
 * Sends the purge to the running service of this `DATA_DIR`, because only it can clear its memory. Returns `undefined` if
 * no service responds, if it has another `DATA_DIR`, or if nothing is stored under the name.
 *
 * @throws CommandFailure if the service reports a failure
 */
export async function askRunningService(config: Config, purge: PurgeRequest): Promise<PurgedChannel | undefined> {
  const origin = consoleOrigin(config);
  if (origin === undefined) return undefined;
  const response = await post(`${origin}/purge`, { ...purge, dataDir: await realpath(config.dataDir) });
  if (response === undefined) return undefined;
  if (response.status >= 500) {
    const { detail = `status ${response.status}` } = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new CommandFailure(`The running service at ${origin} could not remove everything: ${detail}`);
  }
  return response.ok ? ((await response.json()) as PurgedChannel) : undefined;
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
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
  } catch (error) {
    // Nothing listens at this address.
    if (error instanceof TypeError) return undefined;
    throw new CommandFailure(`${url} did not respond within ${RESPONSE_MS / 1000} s.`, { cause: error });
  }
}

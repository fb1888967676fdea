import { realpath } from 'node:fs/promises';
import type { Config } from '../../config/settings.ts';
import { hasErrorCode } from '../../lib/file-system.ts';
import type { PurgedChannel } from '../../services/purge.ts';
import { CommandFailure, hostToReach } from '../command.ts';
import { findRunningService } from '../serve/data-dir-lock.ts';

export type PurgeRequest = { readonly channel: string } | { readonly everything: true };

interface PurgedByService {
  readonly origin: string;
  /** `undefined`: nothing was stored under the name. */
  readonly purged: PurgedChannel | undefined;
}

const RESPONSE_MS = 60_000;

/**
 * Sends the purge to the running service of this `DATA_DIR`, because only it can empty its memory at once. Returns `undefined`
 * if nothing listens there.
 *
 * @throws CommandFailure if the service could not purge, or if something else listens there
 */
export async function purgeByService(config: Config, request: PurgeRequest): Promise<PurgedByService | undefined> {
  const origin = consoleOrigin(config);
  if (origin === undefined) return undefined;
  const body = JSON.stringify({ ...request, dataDir: await realpath(config.dataDir) });
  const headers = { 'content-type': 'application/json', 'x-pennant-console': 'command line' };
  try {
    const signal = AbortSignal.timeout(RESPONSE_MS);
    const response = await fetch(`${origin}/purge`, { method: 'POST', headers, body, signal });
    const reply = await response.json().catch(() => undefined);
    return { origin, purged: readReply(origin, response.status, reply as Reply | undefined) };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    if (error instanceof TypeError) {
      const { cause } = error;
      if (cause instanceof Error && cause.name === 'HTTPParserError') throw foreignListener(origin, 'another program');
      // Otherwise nothing listens at this address.
      if (isClosedConnection(cause)) throw interrupted(origin, error);
      return undefined;
    }
    throw new CommandFailure(
      `${origin}/purge did not respond within ${RESPONSE_MS / 1000} s. Something may be left: run the command again.`,
      { cause: error },
    );
  }
}

type Reply = PurgedChannel & { readonly status?: number; readonly detail?: string };

function readReply(origin: string, status: number, reply: Reply | undefined): PurgedChannel | undefined {
  // A problem repeats the status of its response.
  const isPennant = reply !== undefined && (status === 200 || reply.status === status);
  if (isPennant && status === 200) return reply;
  if (isPennant && status === 404) return undefined;
  if (isPennant && status >= 500) {
    throw new CommandFailure(`The running service at ${origin} could not purge. ${reply.detail}`);
  }
  throw foreignListener(origin, isPennant && status === 409 ? 'a service with another DATA_DIR' : 'another program');
}

const SETTINGS = 'the settings of the service: --env-file FILE, --data-dir DIR and the variable CONSOLE_PORT.';

function foreignListener(origin: string, what: string): CommandFailure {
  return new CommandFailure(
    `${origin} belongs to ${what}. Nothing was purged. Give ${SETTINGS} If no service runs on this DATA_DIR, set CONSOLE_PORT=0.`,
  );
}

function interrupted(origin: string, cause: Error): CommandFailure {
  return new CommandFailure(
    `${origin} closed the connection: the service has ended, or it is another program. Something may be left. ` +
      `Run the command again, if necessary with ${SETTINGS}`,
    { cause },
  );
}

function isClosedConnection(error: unknown): boolean {
  return error instanceof Error && (error.name === 'SocketError' || hasErrorCode(error, 'ECONNRESET', 'EPIPE'));
}

/** The private listener on this machine. `undefined`: there is none. */
function consoleOrigin({ dataDir, consoleHost, consolePort }: Config): string | undefined {
  // The environment of the command may lack the service's port.
  const port = findRunningService(dataDir)?.ports.CONSOLE_PORT ?? consolePort;
  return port === 0 ? undefined : `http://${hostToReach(consoleHost)}:${port}`;
}

import type { PurgedChannel } from '../cache/purge.ts';
import { parseConfig } from '../config/settings.ts';
import { OperatorError } from '../domain/errors.ts';
import { type Command, formatQuantity, originOf, requireIdentifiers } from './command.ts';

const RESPONSE_MS = 60_000;

export const purgeCommand: Command = {
  usage: 'purge ID|@handle',
  help: `Asks the running service to remove a channel: record, names, searches that contain it, originals and images.
The next request loads it from the sources again. The URL of a channel page and a user name work, too. A name is
looked up in the stored data; if it is not there, use the ID.

The service is asked through its private listener (CONSOLE_HOST, CONSOLE_PORT).
Exit code: 0 nothing is left, 1 nothing is stored under that name or not all could be removed, 2 invalid
arguments.`,
  argumentName: 'ID|@handle',
  async run([argument = ''], { env, stdout }) {
    requireIdentifiers(argument);
    const { consoleHost, consolePort } = parseConfig(env);
    if (consolePort === 0) {
      throw new OperatorError(
        'CONSOLE_PORT is 0, so the service has no private listener. Nothing was purged. Set it, restart the service and purge again.',
      );
    }
    const purged = await requestPurge(originOf(consoleHost, consolePort), argument);
    stdout.write(`${describePurged(purged)}\n`);
    return true;
  },
};

/** What was removed, or a problem. */
type Reply = PurgedChannel & { readonly detail?: string };

/** @throws OperatorError if the service does not respond, or could not purge */
async function requestPurge(origin: string, channel: string): Promise<PurgedChannel> {
  let response: Response;
  let reply: Reply;
  try {
    response = await fetch(`${origin}/purge?channel=${encodeURIComponent(channel)}`, {
      method: 'POST',
      headers: { 'x-pennant-console': 'command line' },
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    reply = (await response.json()) as Reply;
  } catch (error) {
    throw new OperatorError(
      `No service responds at ${origin}. Run the command with the settings of the running service: --env-file FILE.`,
      { cause: error },
    );
  }
  if (response.ok) return reply;
  const advice = response.status === 404 ? ' Purge the channel by its ID.' : '';
  throw new OperatorError(`The service at ${origin} did not purge ${channel}. ${reply.detail}${advice}`);
}

function describePurged({ channelId, entries }: PurgedChannel): string {
  const removed = formatQuantity(entries, 'entry', 'entries');
  if (channelId === null) return `No channel is known by that name. Removed: ${removed}.`;
  return `Purged ${channelId}: ${removed}.`;
}

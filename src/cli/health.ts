import { parseConfig } from '../config/settings.ts';
import { type Command, originOf } from './command.ts';

const MAX_WAIT_MS = 2_000;

export const healthCommand: Command = {
  usage: 'health',
  help: `Checks whether the service with these settings responds: on its private listener, or on its public one if
CONSOLE_PORT is 0. For health checks of containers.

Exit code: 0 it responds, 1 it does not, 2 invalid arguments.`,
  async run(_args, { env, stderr }) {
    const { host, port, consoleHost, consolePort } = parseConfig(env);
    const url = consolePort === 0 ? `${originOf(host, port)}/` : `${originOf(consoleHost, consolePort)}/healthz`;
    try {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MS) });
      if (status < 500) return true;
      stderr.write(`${url} responds with status ${status}.\n`);
    } catch {
      stderr.write(`${url} does not respond.\n`);
    }
    return false;
  },
};

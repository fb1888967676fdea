import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';

/** Writes log lines to standard output as people read them: the time of day, and no process id or host name. */
export function createTerminalLog(): DestinationStream {
  return pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' });
}

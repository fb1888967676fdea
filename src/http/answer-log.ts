import { cutAddress } from '../lib/ip-address.ts';
import type { Logger } from '../lib/logger.ts';
import type { Answered } from './answered.ts';

export interface AnswerLogOptions {
  readonly logger: Logger;
  /** One line for each answer; otherwise for slow ones only. */
  readonly logsAll: boolean;
  /** Whether clients appear with their whole address; otherwise with its network (IPv4 /24, IPv6 /48). */
  readonly showsAddresses: boolean;
}

/** Longer than an old record waits for its new one would be worth a look. */
const SLOW_SECONDS = 4;

/** The access log, and a line for each request that took long. */
export function createAnswerLog({ logger, logsAll, showsAddresses }: AnswerLogOptions): (answered: Answered) => void {
  return (answered) => {
    const isSlow = answered.seconds >= SLOW_SECONDS;
    if (!logsAll && !isSlow) return;
    const { seconds, client, cache, ...fields } = answered;
    const line = {
      ...fields,
      durationMs: Math.round(seconds * 1000),
      client: showsAddresses ? client : cutAddress(client),
      ...(cache !== undefined && { cache }),
    };
    if (isSlow) logger.warn(line, 'slow request');
    else logger.info(line, 'request');
  };
}

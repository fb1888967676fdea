import { cutAddress } from '../../lib/ip-address.ts';
import { describeFailure, type Logger } from '../../lib/logger.ts';
import type { TroubleLog } from '../../lib/trouble-log.ts';
import type { Answered } from './answered.ts';
import type { Failure } from './send.ts';

export interface AnswerLogOptions {
  readonly logger: Logger;
  readonly troubles: Pick<TroubleLog, 'report'>;
  /** One line for each answer; otherwise for failed and slow ones only. */
  readonly logsAll: boolean;
  /** Whether clients appear with their whole address; otherwise with its network (IPv4 /24, IPv6 /48). */
  readonly showsAddresses: boolean;
}

/** Longer than an old record waits for its new one would be worth a look. */
const SLOW_SECONDS = 4;

/** The access log, and a line for requests that failed or took long: one line for each request at most. */
export function createAnswerLog(options: AnswerLogOptions): (answered: Answered) => void {
  const { logger, troubles, logsAll, showsAddresses } = options;
  return (answered) => {
    const isSlow = answered.seconds >= SLOW_SECONDS;
    if (!logsAll && !isSlow && answered.failure === undefined) return;
    const { seconds, client, cache, failure, ...fields } = answered;
    const line = {
      ...fields,
      durationMs: Math.round(seconds * 1000),
      client: showsAddresses ? client : cutAddress(client),
      ...(cache !== undefined && { cache }),
      ...(failure !== undefined && { code: failure.code }),
    };
    const hasLine = failure !== undefined ? reportFailure(failure, line) : isSlow && reportSlow(line);
    if (logsAll && !hasLine) logger.info(line, 'request');
  };

  function reportFailure({ code, error }: Failure, line: { readonly requestId: string }): boolean {
    const { requestId } = line;
    const reason = describeFailure(error);
    if (code === 'internal') {
      const key = `bug ${error instanceof Error ? error.stack : reason}`;
      return troubles.report({
        level: 'error',
        key,
        message: 'request failed: a bug',
        fields: { ...line, err: error },
        requestId,
      });
    }
    const key = `request ${code} ${reason}`;
    return troubles.report({ level: 'warn', key, message: 'request failed', fields: { ...line, reason }, requestId });
  }

  function reportSlow(line: { readonly requestId: string; readonly route: string }): boolean {
    const { requestId, route } = line;
    return troubles.report({ level: 'warn', key: `slow ${route}`, message: 'slow request', fields: line, requestId });
  }
}

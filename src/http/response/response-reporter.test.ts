import { Registry } from '@prometheus-io/client';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { recordLog } from '../../../test/helpers/log.ts';
import { AppError } from '../../domain/errors.ts';
import { createFailureLog } from '../../lib/failure-log.ts';
import type { FinishedResponse } from './response-reporter.ts';
import { createResponseReporter } from './response-reporter.ts';

const ENTRY: FinishedResponse = {
  route: '/channel/:identifier',
  status: 200,
  seconds: 0.0123,
  requestId: 'r-1',
  method: 'GET',
  path: '/channel/UCPennantSample00000001A',
  client: '203.0.113.77',
  cache: 'hit',
};

function logged(options: { logsAll: boolean }, ...entries: Partial<FinishedResponse>[]) {
  const { lines, logger } = recordLog();
  const clock = createManualClock();
  const { report } = createResponseReporter({
    runtime: { clock, metrics: new Registry(), logger, failureLog: createFailureLog({ logger, clock }) },
    refusedRequests: { note: () => undefined },
    endpoints: [],
    ...options,
  });
  for (const each of entries) report({ ...ENTRY, ...each });
  return lines;
}

describe('the access log', () => {
  test('has a line for a slow request, and none for a fast one, while it is off', () => {
    expect(logged({ logsAll: false }, {})).toEqual([]);
    const [line] = logged({ logsAll: false }, { seconds: 5 });
    expect(line).toMatchObject({ level: 40, msg: 'slow request', durationMs: 5_000, requestId: 'r-1' });
  });

  const unavailable = (reason: string): Partial<FinishedResponse> => ({
    status: 503,
    seconds: 12,
    failure: new AppError('upstream_unavailable', reason),
  });

  test('has one line for a request that failed and was slow, with the reason, while it is on or off', () => {
    for (const logsAll of [true, false]) {
      const lines = logged({ logsAll }, unavailable('The upstream is down.'));
      expect(lines).toMatchObject([
        {
          level: 40,
          msg: 'request failed',
          code: 'upstream_unavailable',
          reason: 'The upstream is down.',
          status: 503,
        },
      ]);
    }
  });

  test('has each failure reason once, and a line per response while it is on', () => {
    const failures = [unavailable('down'), unavailable('down'), unavailable('other')];
    const named = failures.map((failure, at) => ({ ...failure, requestId: `r-${at}` }));
    expect(logged({ logsAll: false }, ...named).map(({ requestId }) => requestId)).toEqual(['r-0', 'r-2']);
    const lines = logged({ logsAll: true }, ...named);
    expect(lines.map(({ msg, level }) => [msg, level])).toEqual([
      ['request failed', 40],
      ['request', 30],
      ['request failed', 40],
    ]);
  });

  test('has the stack of a bug once', () => {
    const bug = { status: 500, failure: new AppError('internal', 'a bug', { cause: new Error('of ours') }) };
    const lines = logged({ logsAll: false }, bug, { ...bug, requestId: 'r-2' });
    expect(lines).toMatchObject([{ level: 50, msg: 'request failed: a bug', err: { message: 'of ours' } }]);
  });
});

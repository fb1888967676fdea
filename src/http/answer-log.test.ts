import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createAnswerLog } from './answer-log.ts';
import type { Answered } from './answered.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const ANSWERED: Answered = {
  route: '/channel/:identifier',
  status: 200,
  seconds: 0.0123,
  requestId: 'r-1',
  method: 'GET',
  path: '/channel/UCPennantSample00000001A',
  client: '203.0.113.77',
  cache: 'hit',
};

function logged(options: { logsAll: boolean; showsAddresses: boolean }, answered: Partial<Answered> = {}): Line[] {
  const lines: Line[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (text: string) => lines.push(JSON.parse(text)) });
  createAnswerLog({ logger, ...options })({ ...ANSWERED, ...answered });
  return lines;
}

describe('the log of answers', () => {
  test('has one line for each answer when it is on, with the client’s network only', () => {
    const { seconds: _, ...fields } = ANSWERED;
    expect(logged({ logsAll: true, showsAddresses: false })).toEqual([
      { level: 30, msg: 'request', ...fields, durationMs: 12, client: '203.0.113.0/24' },
    ]);
  });

  test('shows whole addresses where the operator wants them', () => {
    expect(logged({ logsAll: true, showsAddresses: true })[0]?.client).toBe('203.0.113.77');
  });

  test('has a line for a slow request even when it is off, and none for others', () => {
    expect(logged({ logsAll: false, showsAddresses: false })).toEqual([]);
    const [line] = logged({ logsAll: false, showsAddresses: false }, { seconds: 5 });
    expect(line).toMatchObject({ level: 40, msg: 'slow request', durationMs: 5_000, requestId: 'r-1' });
  });
});

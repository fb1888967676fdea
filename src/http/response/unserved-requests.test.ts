import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { AppError } from '../../domain/errors.ts';
import { createUnservedRequests } from './unserved-requests.ts';

const clock = createManualClock();
const create = () =>
  createUnservedRequests({ clock, logger: pino({ level: 'silent' }), refusedClients: { note: () => undefined } });

test('failures with the same reason are one entry, with the first and the last time', () => {
  const unserved = create();
  const failure = new AppError('upstream_unavailable', 'The upstream is down.');
  const request = { status: 503, path: '/@a/tv', client: '203.0.113.7', failure };
  const firstAtMs = clock.now();
  unserved.note({ ...request, requestId: 'r-1' });
  clock.advance(1_000);
  unserved.note({ ...request, requestId: 'r-2', path: `/${'\u{1b}'.repeat(1_000)}` });
  unserved.note({ status: 200, path: '/', client: '203.0.113.7', requestId: 'r-3' });
  const { path, ...found } = unserved.recentFailures()[0] ?? {};
  expect(found).toEqual({
    status: 503,
    code: 'upstream_unavailable',
    reason: 'The upstream is down.',
    count: 2,
    firstAtMs,
    lastAtMs: firstAtMs + 1_000,
    requestId: 'r-2',
  });
  expect(path).toMatch(/^\/(?:\\u\{1b\}){33}.*…$/);
});

test('networks and reasons are bounded, and the latest failures are kept', () => {
  const unserved = create();
  for (let at = 0; at < 5_000; at += 1) {
    const client = `${at >> 8}.${at & 255}.7.9`;
    const failure = new AppError('upstream_invalid', `reason ${at}`);
    unserved.note({ status: 502, path: '/', client, requestId: `r-${at}`, failure });
    unserved.note({ status: 429, path: '/', client, requestId: `r-${at}` });
  }
  expect(unserved.stats()).toEqual({ entries: 2_020, maxEntries: 2_020 });
  expect(unserved.recentFailures().map(({ reason }) => reason)).toContain('reason 4999');
  unserved.summarize();
  expect(unserved.stats().entries).toBe(20);
});

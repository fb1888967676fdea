import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { createUnservedRequests } from './unserved-requests.ts';

test('networks are bounded', () => {
  const unserved = createUnservedRequests({ clock: createManualClock(), logger: pino({ level: 'silent' }) });
  for (let at = 0; at < 5_000; at += 1) {
    const client = `${at >> 8}.${at & 255}.7.9`;
    unserved.note({ status: 502, client, requestId: `r-${at}` });
    unserved.note({ status: 429, client, requestId: `r-${at}` });
  }
  expect(unserved.stats()).toEqual({ entries: 2_000, maxEntries: 2_000 });
  unserved.summarize();
  expect(unserved.stats().entries).toBe(0);
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { clientOf } from '../../../test/helpers/clients.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { NEVER_ABORTED } from '../deadlines.ts';
import { createCallBudget } from './call-budget.ts';

it('an aborted call gives its turn to the next one', async () => {
  const clock = createManualClock();
  const budget = createCallBudget({ clock, callsPerSecond: 10 });
  const take = (signal = NEVER_ABORTED) => budget.take(clientOf('one'), signal);
  await Promise.all(Array.from({ length: 100 }, () => take()));
  const caller = new AbortController();
  const abandoned = take(caller.signal);
  let isGranted = false;
  void take().then(() => {
    isGranted = true;
  });
  caller.abort();
  await expect(abandoned).rejects.toMatchObject({ code: 'upstream_timeout' });
  await nextTurn();
  clock.advance(100);
  await nextTurn();
  expect(isGranted).toBe(true);
});

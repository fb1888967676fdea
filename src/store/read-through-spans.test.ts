import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordSpans } from '../../test/helpers/recorded-spans.ts';
import { AppError } from '../domain/errors.ts';
import { createEpochs } from '../lib/epoch.ts';
import { createReadThrough } from './read-through.ts';

const FRESH_MS = 3_600_000;
const { startRequest } = recordSpans();

function setUp() {
  const clock = createManualClock();
  const cache = createReadThrough<string>({
    name: 'values',
    policy: {
      isValue: (value): value is string => typeof value === 'string',
      freshMs: FRESH_MS,
      graceMs: 2 * FRESH_MS,
    },
    memoryTier: { epochs: createEpochs(), maxBytes: 1_000_000 },
    storeTier: {
      store: {
        get: async () => undefined,
        set: async () => undefined,
        close: async () => undefined,
      },
    },
    clock,
  });
  /** The outcomes of the lookups that became spans of one request. */
  async function spansOf(load: () => Promise<{ value: string }>, isCurrent?: (value: string) => boolean) {
    const request = startRequest();
    const options = { softTimeoutMs: 50, ...(isCurrent !== undefined && { isCurrent }) };
    await request.run(() => cache.get('k', load, options)).catch(() => undefined);
    return request.children().map(({ name, attributes }) => [name, attributes['pennant.cache.outcome']]);
  }
  return { clock, spansOf };
}

const load = async () => ({ value: 'a' });

test('a lookup is a span unless a fresh value is in memory', async () => {
  const { clock, spansOf } = setUp();
  expect(await spansOf(load)).toEqual([['look up values', 'miss']]);
  clock.advance(FRESH_MS - 1);
  expect(await spansOf(load)).toEqual([]);
  clock.advance(1);
  expect(await spansOf(load)).toEqual([['look up values', 'refreshed']]);
});

test('a lookup of a fresh value that does not fit is a span', async () => {
  const { spansOf } = setUp();
  await spansOf(load);
  expect(await spansOf(load, (value) => value === 'a')).toEqual([]);
  expect(await spansOf(load, (value) => value !== 'a')).toEqual([['look up values', 'refreshed']]);
});

test('a lookup of an absence in memory is no span', async () => {
  const { spansOf } = setUp();
  const absent = async () => {
    throw new AppError('channel_not_found', 'No such channel.');
  };
  expect(await spansOf(absent)).toEqual([['look up values', 'miss']]);
  expect(await spansOf(absent, () => false)).toEqual([]);
});

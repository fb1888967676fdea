import { describe, expect, it } from 'vitest';
import { recordSpans } from '../../test/helpers/recorded-spans.ts';
import { AppError } from '../domain/errors.ts';
import { currentSpan, isSdkLoaded, startRequestSpan, traced } from './tracing.ts';

// Must run before an SDK is loaded, which happens once in a process.
const loadedAtFirst = isSdkLoaded();
const requestAtFirst = startRequestSpan('GET', {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
});
const workAtFirst = traced({ name: 'work' }, async (span) => [span, currentSpan()]);
const { startRequest } = recordSpans();

describe('tracing', () => {
  it('does nothing without an SDK', async () => {
    expect([loadedAtFirst, requestAtFirst]).toEqual([false, undefined]);
    expect(await workAtFirst).toEqual([undefined, undefined]);
  });

  it('makes work a child of the current span, also across awaits, and ends its span with it', async () => {
    const request = startRequest();
    const value = await request.run(() =>
      traced({ name: 'outer' }, async () => {
        await Promise.resolve();
        return traced({ name: 'inner', attributes: { size: 3 } }, async (span) => {
          span?.setAttribute('found', true);
          return currentSpan() === span;
        });
      }),
    );
    expect(value).toBe(true);
    expect(request.children()).toMatchObject([
      { name: 'outer', children: [{ name: 'inner', attributes: { size: 3, found: true } }] },
    ]);
  });

  it('creates no span outside of requests', async () => {
    expect(isSdkLoaded()).toBe(true);
    expect(await traced({ name: 'work' }, async (span) => [span, currentSpan()])).toEqual([undefined, undefined]);
  });

  it.each([
    [new AppError('upstream_timeout', 'Too late.'), { type: 'upstream_timeout', message: 'Too late.' }, {}],
    [new AppError('internal', 'Something went wrong.'), { type: 'internal', message: 'Something went wrong.' }, {}],
    [new TypeError('secret-in-a-message is not a function'), { type: 'TypeError', message: undefined }, {}],
    [new AppError('channel_not_found', 'No such channel.'), undefined, { 'pennant.outcome': 'channel_not_found' }],
  ])('passes on %s, and marks the span as failed only if it is a failure', async (error, failure, attributes) => {
    const request = startRequest();
    const failing = request.run(() => traced({ name: 'work' }, () => Promise.reject(error)));
    await expect(failing).rejects.toBe(error);
    expect(request.children()).toMatchObject([{ attributes }]);
    expect(request.children()[0]?.failure).toEqual(failure);
  });
});

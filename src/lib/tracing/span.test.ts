import { describe, expect, it } from 'vitest';
import { recordSpan } from '../../../test/helpers/recorded-spans.ts';
import { AppError } from '../../domain/errors.ts';
import { currentSpan, runInSpan, traced } from './span.ts';

describe('work that is traced', () => {
  it('is a child of the span it runs in, across awaits, and ends with the work', async () => {
    const request = recordSpan();
    const value = await runInSpan(request, () =>
      traced({ name: 'outer' }, async () => {
        await Promise.resolve();
        return traced({ name: 'inner', attributes: { size: 3 } }, async (span) => {
          span?.setAttributes({ found: true });
          return currentSpan() === span;
        });
      }),
    );
    expect(value).toBe(true);
    expect(request.children).toMatchObject([
      {
        name: 'outer',
        isEnded: true,
        children: [{ name: 'inner', isEnded: true, attributes: { size: 3, found: true } }],
      },
    ]);
    expect(request.isEnded).toBe(false);
  });

  it('just runs where nothing is traced', async () => {
    expect(await traced({ name: 'work' }, async (span) => [span, currentSpan()])).toEqual([undefined, undefined]);
  });

  it.each([
    [new AppError('upstream_timeout', 'Too late.'), { type: 'upstream_timeout', message: 'Too late.' }, {}],
    [new AppError('internal', 'Something went wrong.'), { type: 'internal', message: 'Something went wrong.' }, {}],
    [new TypeError('secret-in-a-message is not a function'), { type: 'TypeError', message: undefined }, {}],
    [new AppError('channel_not_found', 'No such channel.'), undefined, { 'pennant.outcome': 'channel_not_found' }],
  ])('passes %s on, and is failed only where that is a failure', async (error, failure, attributes) => {
    const request = recordSpan();
    const failing = runInSpan(request, () => traced({ name: 'work' }, () => Promise.reject(error)));
    await expect(failing).rejects.toBe(error);
    expect(request.children[0]).toMatchObject({ isEnded: true, attributes });
    expect(request.children[0]?.failure).toEqual(failure);
  });
});

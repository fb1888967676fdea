import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { startTestApp } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { recordSpans } from '../helpers/recorded-spans.ts';

const { ended } = recordSpans();

async function startWithSource(getChannel = numberedSource().getChannel) {
  const service = await startTestApp({ sources: [{ ...numberedSource(), getChannel }] });
  onTestFinished(() => service.close());
  return {
    /** The span of the request, which is the first of its test. */
    async spanOf(url: string) {
      const { status } = await service.get(url);
      await expect.poll(() => ended()).toHaveLength(1);
      return { status, span: ended()[0] };
    },
  };
}

const RECORD = `/channel/${numberedChannelId(1)}`;

test('the span of a successful request has route, status and cache result, and no error', async () => {
  const { spanOf } = await startWithSource();
  const { status, span } = await spanOf(RECORD);
  expect(status).toBe(200);
  expect(span).toMatchObject({
    name: 'GET /channel/:identifier',
    attributes: { 'http.response.status_code': 200, 'pennant.cache.outcome': 'miss' },
    failure: undefined,
  });
});

test('the span of a request for an absent channel has no error', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new AppError('channel_not_found', 'There is no such channel.');
  });
  const { status, span } = await spanOf(RECORD);
  expect([status, span?.failure]).toEqual([404, undefined]);
});

test('the span of a failed request has the reason', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new AppError('upstream_timeout', 'Too late.');
  });
  const { status, span } = await spanOf(RECORD);
  expect(status).toBe(504);
  expect(span?.failure).toEqual({ type: 'upstream_timeout', message: expect.stringMatching(/./) });
});

test('the span of a request that failed by a bug has no internal details', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new TypeError('secret-in-a-message is not a function');
  });
  const { status, span } = await spanOf(RECORD);
  expect([status, span?.failure]).toEqual([500, { type: 'internal', message: undefined }]);
});

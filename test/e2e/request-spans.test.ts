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

test('the span of an answered request has its route, its status and what the cache had, and has not failed', async () => {
  const { spanOf } = await startWithSource();
  const { status, span } = await spanOf(RECORD);
  expect(status).toBe(200);
  expect(span).toMatchObject({
    name: 'GET /channel/:identifier',
    attributes: { 'http.response.status_code': 200, 'pennant.cache.outcome': 'miss' },
    failure: undefined,
  });
});

test('the span of a request for what is not there has not failed', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new AppError('channel_not_found', 'There is no such channel.');
  });
  const { status, span } = await spanOf(RECORD);
  expect([status, span?.failure]).toEqual([404, undefined]);
});

test('the span of a failed request says why', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new AppError('upstream_timeout', 'Too late.');
  });
  const { status, span } = await spanOf(RECORD);
  expect(status).toBe(504);
  expect(span?.failure).toEqual({ type: 'upstream_timeout', message: expect.stringMatching(/./) });
});

test('the span of a request that met a bug says nothing internal', async () => {
  const { spanOf } = await startWithSource(async () => {
    throw new TypeError('secret-in-a-message is not a function');
  });
  const { status, span } = await spanOf(RECORD);
  expect([status, span?.failure]).toEqual([500, { type: 'internal', message: undefined }]);
});

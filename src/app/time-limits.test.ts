import { expect, test } from 'vitest';
import { SOFT_TIMEOUT_MS } from '../cache/cache.ts';
import { BATCH_MS } from '../channels/channel-batches.ts';
import { LIST_MS } from '../channels/search.ts';
import { RESPONSE_MS } from '../http/pipeline.ts';
import { DOWNLOAD_MS } from '../images/download.ts';
import { ENCODER_WAIT_MS, TASK_MS } from '../images/encoder/encoder.ts';
import { LOAD_WAIT_MS } from '../images/originals.ts';
import { ALL_SOURCES_MS, SOURCE_ATTEMPT_MS } from '../sources/all-sources.ts';
import { UPSTREAM_CALL_MS } from '../sources/source.ts';
import { CLIENT_VERSION_MS } from '../sources/youtube/client-version.ts';
import { ABOUT_MS } from '../sources/youtube/youtube.ts';

/* The time limits of the parts of a request's work: each ends within the one that contains it. */

/** No client waits longer for a response. */
const MAX_RESPONSE_MS = 12_000;
/** The time for writing a response after its limit, even on a busy machine. */
const WRITING_MS = 500;

test.each<[what: string, limitMs: number, within: string, outerMs: number]>([
  ['a batch', BATCH_MS, 'the response', RESPONSE_MS],
  ['a call of a source', SOURCE_ATTEMPT_MS, 'the load from all sources', ALL_SOURCES_MS],
  ['an HTTP request', UPSTREAM_CALL_MS, 'the call of a source', SOURCE_ATTEMPT_MS],
  ['a lookup of the client version', CLIENT_VERSION_MS, 'the call of a source', SOURCE_ATTEMPT_MS],
  ['the About data', ABOUT_MS, 'the call of a source', SOURCE_ATTEMPT_MS],
  ['the wait for the lists of a search', LIST_MS, 'the response', RESPONSE_MS],
  ['a call of a source', SOURCE_ATTEMPT_MS, 'the wait for the lists of a search', LIST_MS],
  ['the soft timeout', SOFT_TIMEOUT_MS, 'the response', RESPONSE_MS],
  ['a download', DOWNLOAD_MS, 'the response', RESPONSE_MS],
  ['the wait for other loads of originals', LOAD_WAIT_MS, 'the response', RESPONSE_MS],
  ['the wait for an encoder', ENCODER_WAIT_MS, 'the response', RESPONSE_MS],
  ['a task of an encoder', TASK_MS, 'the response', RESPONSE_MS],
])('%s (%i ms) ends within %s', (_what, limitMs, _within, outerMs) => {
  expect(limitMs).toBeLessThanOrEqual(outerMs);
});

test('a response takes at most 12 s', () => {
  expect(RESPONSE_MS + WRITING_MS).toBeLessThanOrEqual(MAX_RESPONSE_MS);
});

test('two sources can be tried one after another', () => {
  expect(2 * SOURCE_ATTEMPT_MS).toBeLessThanOrEqual(ALL_SOURCES_MS);
});

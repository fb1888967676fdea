import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestApp } from './app.ts';

/* Data that a former version has stored. See the fixture's README. */

export const FORMER_DATA = join(import.meta.dirname, '../fixtures/former-data');

/** What the former version responded with. */
export interface FormerAnswer {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly etag?: string;
  /** Of a record or a search. */
  readonly json?: object;
  /** Of a picture. */
  readonly sha256?: string;
  /** Of an error. */
  readonly code?: string;
}

/** The service's wall clock, and its responses. */
export const { writtenMs: FORMER_MS, answers: FORMER_ANSWERS } = readFormer<{
  readonly writtenMs: number;
  readonly answers: readonly FormerAnswer[];
}>('answers.json');

export function readFormer<T>(file: string): T {
  return JSON.parse(readFileSync(join(FORMER_DATA, file), 'utf8')) as T;
}

/** Repeats the request: the response has the former content and comes from stored data. */
export async function expectFormerAnswer(service: TestApp, former: FormerAnswer): Promise<void> {
  const { status, headers, bytes, text } = await service.get(former.url);
  expect([status, headers['content-type']], text).toEqual([former.status, former.contentType]);
  expect(headers['cache-status']).toMatch(/^pennant; hit/);
  if (former.json !== undefined) expect(JSON.parse(text)).toMatchObject(former.json);
  if (former.code !== undefined) expect(JSON.parse(text)).toMatchObject({ code: former.code });
  if (former.sha256 === undefined) return;
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(former.sha256);
  const confirmed = await service.get(former.url, { 'if-none-match': former.etag ?? '' });
  expect(confirmed.status).toBe(304);
}

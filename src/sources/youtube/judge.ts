import type { Verdict } from '../../lib/breaker.ts';
import { type HttpResponse, readRetryAfterMs } from '../../lib/http/http-client.ts';
import { type JsonObject, parseJsonObject } from '../../lib/json.ts';
import { isHtml, isMarkup } from '../json.ts';
import { findYoutubeUrl } from '../youtube-urls.ts';
import { type FeedReading, readFeed } from './feed.ts';
import { readInitialData } from './page.ts';

/** A response of the API: any JSON object of any status below 500, whatever it says. */
export interface ApiResponse {
  readonly status: number;
  readonly body: JsonObject;
}

/** Consent, "sorry" and captcha pages come with any status. */
export function judgeApi(response: HttpResponse): Verdict<ApiResponse> {
  const { status, body } = response;
  const failure = judgeStatus(response);
  if (failure !== undefined) return failure;
  if (isMarkup(body)) return refused(response, `HTML with status ${status}`);
  const object = parseJsonObject(body);
  return object === undefined ? unreadable('no JSON object') : answered({ status, body: object });
}

/** The data of an HTML page of the site. A redirect to the site, which a relay passes on, is no refusal. */
export function judgePage(response: HttpResponse): Verdict<{ status: number; data?: JsonObject | undefined }> {
  const { status, headers, body } = response;
  if (findYoutubeUrl(headers.location ?? '') !== undefined) return answered({ status });
  const failure = judgeStatus(response);
  if (failure !== undefined) return failure;
  // A page of status 404 may say that there is no such channel.
  const data = status === 200 || status === 404 ? readInitialData(body) : undefined;
  if (data === undefined && !isMarkup(body)) return unreadable('no page');
  // Every page of the site has `ytcfg`; consent and captcha pages do not.
  const isOfSite = data !== undefined || body.includes('ytcfg');
  if (status === 200 && !isOfSite) return refused(response, 'HTML of another site with status 200');
  return answered({ status, data });
}

/** Feeds of existing channels are 404 for days at a time (2024-01 to 2026-09), so a 404 means nothing. */
export function judgeFeed(response: HttpResponse): Verdict<FeedReading | undefined> {
  const { status, body } = response;
  const failure = judgeStatus(response);
  if (failure !== undefined) return failure;
  if (status !== 200) return answered(undefined);
  if (isHtml(body)) return refused(response, 'HTML with status 200');
  const feed = readFeed(body.toString('utf8'));
  return feed === undefined ? unreadable('no feed') : answered(feed);
}

/** The data of the site's service worker: `)]}'`, then JSON. `undefined` for a page of the site. */
export function judgeServiceWorker(response: HttpResponse): Verdict<string | undefined> {
  const text = response.body.toString('utf8');
  if (response.status === 200 && text.trimStart().startsWith(")]}'")) return answered(text);
  const page = judgePage(response);
  return page.kind === 'answered' ? answered(undefined) : page;
}

/** `undefined` if the status tells nothing about this address. */
function judgeStatus(response: HttpResponse): Verdict<never> | undefined {
  const { status, headers, body } = response;
  const isRedirect = status >= 300 && status < 400;
  const detail = isRedirect ? `redirect to ${headers.location ?? 'nowhere'}` : `status ${status}`;
  if (status === 403 && !isMarkup(body)) return { kind: 'unexplained', detail };
  if (isRedirect || status === 403 || status === 429) return refused(response, detail);
  return status >= 500 ? { kind: 'failing', detail } : undefined;
}

function answered<T>(value: T): Verdict<T> {
  return { kind: 'answered', value };
}

function refused({ headers }: HttpResponse, detail: string): Verdict<never> {
  return { kind: 'refused', detail, waitMs: readRetryAfterMs(headers) };
}

function unreadable(detail: string): Verdict<never> {
  return { kind: 'unreadable', detail };
}

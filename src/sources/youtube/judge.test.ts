import { describe, expect, it } from 'vitest';
import { OWN_RESPONSES, readResponses } from '../../../test/helpers/replay-responses.ts';
import type { HttpResponse } from '../../lib/http/http-client.ts';
import { judgeApi, judgeFeed, judgePage, judgeServiceWorker } from './judge.ts';

const CONSENT = '<!DOCTYPE html><html lang="en"><head><title>Before you continue to YouTube</title>';
const CAPTCHA = '<html><body><form action="index" method="post" id="captcha-form">About this page: unusual traffic';
const OF_SITE = '<!DOCTYPE html><html><head><script>ytcfg.set({"CLIENT_CANARY_STATE":"none"});</script>';
const DATA = '<html><script>var ytInitialData = {"alerts":[]};</script>';
const FEED = '<?xml version="1.0"?><feed><title>t</title><published>2011-02-01T06:30:15+00:00</published></feed>';
const CONSENT_URL = 'https://consent.youtube.com/m?continue=x';
const SORRY_URL = 'https://www.google.com/sorry/index?continue=x';
const VERSION = ')]}\'\n[["yt.sw.adr",null,[[["en","US",null,"","2.20260630.03.00"]]]]]';

function respond(status: number, text = '', headers: HttpResponse['headers'] = {}): HttpResponse {
  return { status, headers, body: Buffer.from(text) };
}

const JUDGES = { api: judgeApi, page: judgePage, feed: judgeFeed, worker: judgeServiceWorker };
const EVERY = Object.keys(JUDGES) as (keyof typeof JUDGES)[];

describe.each(EVERY)('for calls of kind %s', (name) => {
  it.each<[string, HttpResponse, object]>([
    ['429', respond(429), { kind: 'refused', detail: 'status 429', waitMs: undefined }],
    ['429 that names a time', respond(429, '{}', { 'retry-after': '90' }), { kind: 'refused', waitMs: 90_000 }],
    ['consent', respond(302, '', { location: CONSENT_URL }), { kind: 'refused', detail: `redirect to ${CONSENT_URL}` }],
    ['sorry', respond(302, CAPTCHA, { location: SORRY_URL }), { kind: 'refused', detail: `redirect to ${SORRY_URL}` }],
    ['a redirect to nowhere', respond(303), { kind: 'refused' }],
    ['a consent page', respond(200, CONSENT), { kind: 'refused' }],
    ['a captcha', respond(200, CAPTCHA), { kind: 'refused' }],
    ['a captcha with 403', respond(403, CAPTCHA), { kind: 'refused', detail: 'status 403' }],
    ['a bare 403', respond(403), { kind: 'unexplained', detail: 'status 403' }],
    ['403 in JSON', respond(403, '{"error":{"code":403}}'), { kind: 'unexplained' }],
  ])('%s refuses this address', (_what, response, expected) => {
    expect(JUDGES[name](response)).toMatchObject(expected);
  });

  it.each([500, 502, 503])('%i is a failure', (status) => {
    expect(JUDGES[name](respond(status, CAPTCHA))).toMatchObject({ kind: 'failing', detail: `status ${status}` });
  });
});

it.each<[keyof typeof JUDGES, string, HttpResponse, string]>([
  ['api', 'an unknown form', respond(200, '{}'), 'answered'],
  ['api', 'a refused client version', respond(400, '{"error":{"status":"INVALID_ARGUMENT"}}'), 'answered'],
  ['api', '401', respond(401, '{"error":{"status":"UNAUTHENTICATED"}}'), 'answered'],
  ['api', 'NOT_FOUND', respond(404, '{"error":{"status":"NOT_FOUND"}}'), 'answered'],
  ['api', 'HTML with 404', respond(404, CONSENT), 'refused'],
  ['api', 'cut JSON', respond(200, '{"header":{"page'), 'unreadable'],
  ['api', 'a list', respond(200, '[]'), 'unreadable'],
  ['api', 'nothing', respond(200), 'unreadable'],
  ['page', 'data', respond(200, DATA), 'answered'],
  ['page', 'data with 404', respond(404, DATA), 'answered'],
  ['page', 'a page of the site without data', respond(200, OF_SITE), 'answered'],
  ['page', 'HTML with 404', respond(404, CONSENT), 'answered'],
  ['page', 'a redirect on the site', respond(302, '', { location: 'https://www.youtube.com/@a' }), 'answered'],
  ['page', 'something else', respond(200, 'plain'), 'unreadable'],
  ['feed', 'a feed', respond(200, FEED), 'answered'],
  ['feed', 'a cut feed', respond(200, FEED.slice(0, -9)), 'unreadable'],
  ['feed', 'HTML with 404', respond(404, CONSENT), 'answered'],
  ['worker', 'the data', respond(200, VERSION), 'answered'],
  ['worker', 'a page of the site', respond(200, OF_SITE), 'answered'],
])('the judgement of %s about %s', (name, _what, response, kind) => {
  expect(JUDGES[name](response).kind).toBe(kind);
});

it('every recorded response is an answer', () => {
  for (const { file, status, text } of readResponses(OWN_RESPONSES)) {
    const judge = file.endsWith('.xml') ? judgeFeed : judgeApi;
    expect([file, judge(respond(status, text)).kind]).toEqual([file, 'answered']);
  }
});

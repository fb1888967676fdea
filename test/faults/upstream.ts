import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FAILURE_KINDS, type FailureKind, ORIGIN_WITHOUT_ADDRESS } from '../helpers/failure-kinds.ts';
import { findRefusingOrigin, redirectTo } from '../helpers/fake-upstream.ts';
import type { HttpSender, SentResponse } from '../helpers/http-request.ts';
import { type ReplayServer, startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import { findFaultsOf } from './mixed-load.ts';
import { loadAverage, type Outcome } from './report.ts';
import { hasRetryAfter } from './response-faults.ts';

/** Requests with stored stale responses. */
const OLD_QUESTIONS = ['/api/channel/UCreplayLighthouse000001', '/api/search?q=light', '/UCreplayLighthouse000001/tv'];
/** Requests without stored responses. */
const NEW_RECORD = '/api/channel/UCreplayQuiet00000000007';
const NEW_SEARCH = '/api/search?q=darkness';
/** An image of a channel with a fresh record, so that only the image host fails. */
const NEW_IMAGE = '/UCreplayHarbour000000002/tv';
const ITS_RECORD = '/api/channel/UCreplayHarbour000000002';

/** Time limits for every request, and for one with a stale response (with time for a busy machine). */
const LONGEST_MS = 12_000;
const LONGEST_STORED_MS = 5_000;
const HOUR_MS = 3_600_000;
/** The breaker of a source that refuses this address is open for longer. Tests with a moved clock show that it closes. */
const LONGEST_AWAITED_S = 20;

interface MeasuredKind extends FailureKind {
  /** The error code for an image. Default: `code`. */
  readonly imageCode?: FailureKind['code'];
}

const REDIRECT_LOOP: MeasuredKind = {
  name: 'redirect loop',
  upstream: (request, response) => redirectTo(request.url ?? '/')(request, response),
  code: 'upstream_unavailable',
  imageCode: 'upstream_invalid',
  isForShortForm: true,
};

/** Every kind of upstream failure, for requests with and without a stale response. */
export const upstream: Subject = {
  name: 'upstream',
  async run(context) {
    const directory = await fillStore(context);
    const kinds: MeasuredKind[] = [...FAILURE_KINDS, REDIRECT_LOOP].filter(
      ({ isForShortForm = false }) => context.isLong || isForShortForm,
    );
    const measured: Promise<void>[] = [];
    for (const kind of kinds.toSorted(byWait)) {
      const { promise: isWaiting, resolve: onWaiting } = Promise.withResolvers<void>();
      const measure = context.measure('upstream', kind.name, () => observe(context, directory, kind, onWaiting));
      measured.push(measure.then(onWaiting));
      await isWaiting;
    }
    await Promise.all(measured);
  },
};

/** Those first that wait for a time limit, then those that wait until a breaker is half-open. */
function byWait({ code: left }: MeasuredKind, { code: right }: MeasuredKind): number {
  const order = ['upstream_timeout', 'upstream_invalid', 'upstream_unavailable'];
  return order.indexOf(left) - order.indexOf(right);
}

/** A data directory with stale responses. */
async function fillStore(context: FaultContext): Promise<string> {
  const directory = await context.newDirectory();
  const replay = await startReplayServer();
  const service = await context.start({ directory, env: youtubeSettings(replay.origin) });
  const { client } = service;
  const faults = [...(await findFaultsOf(client, [...OLD_QUESTIONS, ITS_RECORD])), ...(await stopService(service))];
  if (faults.length > 0) throw new Error(faults.join('; '));
  await replay.close();
  const db = new DatabaseSync(join(directory, 'data', 'cache.db'));
  // Stale searches may be served for a day, and images are fresh for a day.
  db.prepare("UPDATE entries SET stored_at_ms = stored_at_ms - ? WHERE key LIKE 'search%'").run(2 * HOUR_MS);
  db.prepare(
    "UPDATE entries SET stored_at_ms = stored_at_ms - ? WHERE key NOT LIKE 'search%' AND key NOT LIKE '%UCreplayHarbour%'",
  ).run(25 * HOUR_MS);
  db.close();
  return directory;
}

/** @param onWaiting is called when nothing is left but to wait, so that the next kind can begin */
async function observe(
  context: FaultContext,
  filled: string,
  kind: MeasuredKind,
  onWaiting: () => void,
): Promise<Outcome> {
  const directory = await context.newDirectory();
  await cp(filled, directory, { recursive: true });
  const replay = await startReplayServer();
  if (typeof kind.upstream === 'function') replay.misbehave('all', kind.upstream);
  const service = await context.start({ directory, env: youtubeSettings(await originOf(kind, replay)) });
  const { client } = service;
  const { imageCode = kind.code } = kind;
  const faults: string[] = [];
  const exceeded: string[] = [];
  let slowestMs = 0;
  const ask = async (url: string, limitMs: number, findFault: (response: SentResponse) => string | undefined) => {
    const startedAtMs = performance.now();
    const response = await client.send({ url });
    const ms = performance.now() - startedAtMs;
    slowestMs = Math.max(slowestMs, ms);
    const fault = findFault(response);
    if (fault !== undefined) faults.push(`${url}: ${fault}`);
    if (ms > limitMs) exceeded.push(`${url} took ${ms.toFixed(0)} ms (${loadAverage()})`);
  };
  const asked = Promise.all([
    ...OLD_QUESTIONS.map((url) => ask(url, LONGEST_STORED_MS, findStaleFault)),
    ...[NEW_RECORD, NEW_SEARCH].map((url) => ask(url, LONGEST_MS, findRefusalFault(kind.code))),
    ask(NEW_IMAGE, LONGEST_MS, findRefusalFault(imageCode)),
  ]);
  if (kind.code !== 'upstream_timeout') await asked;
  onWaiting();
  await asked;
  const openS = Number((await client.send({ url: NEW_RECORD })).headers['retry-after'] ?? 0);
  replay.behave();
  const isBack = typeof kind.upstream !== 'function' || openS > LONGEST_AWAITED_S || (await recovers(client));
  if (!isBack) faults.push('not asked again after upstream had recovered');
  service.child.kill('SIGKILL');
  await replay.close();
  const codes = `${kind.code} for record and search, ${imageCode} for the image`;
  const measured = `the 3 old responses; without one ${codes}, with Retry-After; slowest ${(slowestMs / 1000).toFixed(1)} s`;
  return { measured, faults, exceeded };
}

function originOf({ upstream: kind }: FailureKind, replay: ReplayServer): Promise<string> | string {
  if (kind === 'refuses connections') return findRefusingOrigin();
  return kind === 'has no address' ? ORIGIN_WITHOUT_ADDRESS : replay.origin;
}

function findStaleFault({ status, headers, bytes }: SentResponse): string | undefined {
  if (status !== 200 || bytes.length === 0) return `returned ${status} although an old response is stored`;
  return /^pennant; hit; ttl=-/.test(String(headers['cache-status'])) ? undefined : `said ${headers['cache-status']}`;
}

function findRefusalFault(expected: FailureKind['code']) {
  return (response: SentResponse): string | undefined => {
    if (response.status < 500) return `returned ${response.status}`;
    if (!hasRetryAfter(response)) return `Retry-After: ${response.headers['retry-after']}`;
    const { code } = JSON.parse(response.bytes.toString('utf8')) as { code: string };
    return code === expected ? undefined : `${code} instead of ${expected}`;
  };
}

/** The breaker may be open for a while. */
function recovers(client: HttpSender): Promise<boolean> {
  return comesTrue(async () => (await client.send({ url: NEW_RECORD })).status === 200, 40_000);
}

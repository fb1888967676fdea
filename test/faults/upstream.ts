import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FAILURE_KINDS, type FailureKind } from '../helpers/failure-kinds.ts';
import { findRefusingOrigin, redirectTo } from '../helpers/faulty-upstream.ts';
import { createHttpSender, type SentAnswer } from '../helpers/http-request.ts';
import { OWN_ANSWERS, readAnswers } from '../helpers/replay-answers.ts';
import { type ReplayServer, startReplayServer } from '../helpers/replay-server.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { youtubeSettings } from '../helpers/youtube-service.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import { loadAverage } from './report.ts';

const QUESTIONS = {
  stored: ['/api/channel/UCreplayLighthouse000001', '/api/search?q=light', '/UCreplayLighthouse000001/tv'],
  new: ['/api/channel/UCreplayQuiet00000000007', '/api/search?q=darkness', '/UCreplayHarbour000000002/tv'],
} as const;

/** CONTRACT section 8: any request, and one for which there is an old answer (with room for a busy machine). */
const LONGEST_MS = 12_000;
const LONGEST_STORED_MS = 5_000;
const HOUR_MS = 3_600_000;

const REDIRECT_LOOP: FailureKind = {
  name: 'redirect loop',
  upstream: (request, response) => redirectTo(request.url ?? '/')(request, response),
  channels: 'upstream_unavailable',
  pictures: 'upstream_invalid',
  isSlow: false,
};

/** Those that differ in what they do to a process; the others differ in what is said, which the e2e tests look at. */
const SHORT_FORM = [
  'refused connection',
  'name without an address',
  'reset connection',
  'no answer at all',
  'a byte now and then',
];
const MORE_OF_SHORT_FORM = ['429', 'captcha page', 'bytes that are no HTTP', 'endless body', 'gzip bomb'];

/** Upstream fails in every way, for a process that has old answers and for questions that it has none for. */
export const upstream: Subject = {
  name: 'upstream',
  async run(context) {
    const directory = await fillStore(context);
    const inShortForm = new Set([...SHORT_FORM, ...MORE_OF_SHORT_FORM]);
    const kinds = FAILURE_KINDS.filter(({ name }) => context.isLong || inShortForm.has(name));
    const all = [...kinds, REDIRECT_LOOP];
    // The slow ones only wait.
    const slow = all.filter(({ isSlow }) => isSlow).map((kind) => observe(context, directory, kind));
    for (const kind of all.filter(({ isSlow }) => !isSlow)) await observe(context, directory, kind);
    await Promise.all(slow);
  },
};

async function startUpstream(): Promise<ReplayServer> {
  const bytes = await drawTestCard({ width: 320, height: 180 }).png().toBuffer();
  return startReplayServer({
    answers: readAnswers(OWN_ANSWERS),
    findImage: () => ({ contentType: 'image/png', bytes }),
  });
}

/** A data directory with answers that are older than their freshness. */
async function fillStore(context: FaultContext): Promise<string> {
  const directory = await context.newDirectory();
  const replay = await startUpstream();
  const service = await context.start({ directory, env: youtubeSettings(replay.origin) });
  const client = createHttpSender(service.port);
  for (const url of QUESTIONS.stored) await client.send({ url });
  client.close();
  await stopService(service);
  await replay.close();
  const db = new DatabaseSync(join(directory, 'data', 'cache.db'));
  // Searches may be shown for a day, pictures are fresh for one.
  db.prepare("UPDATE entries SET stored_at_ms = stored_at_ms - ? WHERE key LIKE 'search%'").run(2 * HOUR_MS);
  db.prepare("UPDATE entries SET stored_at_ms = stored_at_ms - ? WHERE key NOT LIKE 'search%'").run(25 * HOUR_MS);
  db.close();
  return directory;
}

async function observe(context: FaultContext, filled: string, kind: FailureKind): Promise<void> {
  const directory = await context.newDirectory();
  await cp(filled, directory, { recursive: true });
  const replay = await startUpstream();
  if (typeof kind.upstream === 'function') replay.misbehave('all', kind.upstream);
  const service = await context.start({ directory, env: youtubeSettings(await originOf(kind, replay)) });
  const client = createHttpSender(service.port);
  const faults: string[] = [];
  let slowestMs = 0;
  const ask = async (url: string, limitMs: number, findFault: (answer: SentAnswer) => string | undefined) => {
    const startedAtMs = performance.now();
    const answer = await client.send({ url });
    const ms = performance.now() - startedAtMs;
    slowestMs = Math.max(slowestMs, ms);
    const fault = findFault(answer) ?? (ms > limitMs ? `${ms.toFixed(0)} ms (${loadAverage()})` : undefined);
    if (fault !== undefined) faults.push(`${url}: ${fault}`);
  };
  await Promise.all([
    ...QUESTIONS.stored.map((url) => ask(url, LONGEST_STORED_MS, findStaleFault)),
    ...QUESTIONS.new.map((url) => ask(url, LONGEST_MS, findRefusalFault)),
  ]);
  replay.behave();
  const isBack = typeof kind.upstream !== 'function' || (await recovers(client));
  if (!isBack) faults.push('not asked again after upstream had recovered');
  client.close();
  const measured = `3 old answers, 3 errors with Retry-After, slowest ${(slowestMs / 1000).toFixed(1)} s`;
  context.report.add('upstream', kind.name, { measured, faults });
  service.child.kill('SIGKILL');
  await replay.close();
}

function originOf({ upstream: kind }: FailureKind, replay: ReplayServer): Promise<string> | string {
  if (kind === 'refuses connections') return findRefusingOrigin();
  return kind === 'has no address' ? 'http://upstream.invalid' : replay.origin;
}

function findStaleFault({ status, headers, bytes }: SentAnswer): string | undefined {
  if (status !== 200 || bytes.length === 0) return `answered ${status} although an old answer is stored`;
  return /^pennant; hit; ttl=-/.test(String(headers['cache-status'])) ? undefined : `said ${headers['cache-status']}`;
}

function findRefusalFault({ status, headers, bytes }: SentAnswer): string | undefined {
  if (![502, 503, 504].includes(status)) return `answered ${status}`;
  if (headers['retry-after'] === undefined) return 'no Retry-After';
  return JSON.parse(bytes.toString('utf8')).code === undefined ? 'no code' : undefined;
}

/** A circuit breaker may leave upstream alone for a while. */
function recovers(client: ReturnType<typeof createHttpSender>): Promise<boolean> {
  return comesTrue(async () => (await client.send({ url: QUESTIONS.new[0] })).status === 200, 40_000);
}

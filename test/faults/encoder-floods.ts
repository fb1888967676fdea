import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender } from '../helpers/http-request.ts';
import { childrenOf, residentBytes, type ServiceProcess } from '../helpers/service-process.ts';
import { comesTrue, type FaultContext, timed } from './context.ts';
import { findPictureFault } from './mixed-load.ts';

const CLIENTS = 200;
const MAX_HEALTH_MS = 200;
const MAX_LEFT_MEMORY = 1.5;
const RECOVERY_MS = 20_000;
const TRUSTED = { TRUST_PROXY: '127.0.0.0/8', BASE_URL: 'https://pennant.example' };

/** As many clients as there are, each with a picture that nobody has made yet, in the format that takes longest. */
export async function floodTheEncoders(
  context: FaultContext,
  { what, prefix = [] }: { readonly what: string; readonly prefix?: readonly string[] },
): Promise<void> {
  const service = await context.start({ env: TRUSTED, prefix });
  await askFor(service, 1, 500);
  const before = await memoryOf(service);
  let answers: Awaited<ReturnType<typeof askFor>> = [];
  let firstWidth = 600;
  const health = await timed('/healthz', MAX_HEALTH_MS, async () => {
    const watch = watchHealth(service);
    answers = await askFor(service, CLIENTS, firstWidth);
    firstWidth += CLIENTS;
    return watch.stop();
  });

  const valid = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 503);
  const faults = await Promise.all(valid.map(async (answer) => findPictureFault(answer.url, answer)));
  const lost = faults.filter((fault) => fault !== undefined);
  const others = answers.length - valid.length - refused.length;
  if (others > 0) lost.push(`${others} were neither 200 nor 503`);
  if (refused.some(({ headers }) => headers['retry-after'] === undefined)) lost.push('a 503 without Retry-After');
  if (valid.length === 0 || refused.length === 0) lost.push(`${valid.length} answered, ${refused.length} refused`);
  lost.push(...health.faults);
  let left = 0;
  await comesTrue(async () => {
    left = (await memoryOf(service)) / before;
    return left <= MAX_LEFT_MEMORY;
  }, RECOVERY_MS);
  if (left > MAX_LEFT_MEMORY) lost.push(`memory is ${left.toFixed(2)} times what it was`);
  const measured = `${valid.length} valid, ${refused.length} told 503; /healthz ${health.ms.toFixed(0)} ms; memory × ${left.toFixed(2)}`;
  context.report.add('floods', what, { measured, faults: lost });
  await context.cleanUpServices();
}

async function askFor({ port }: ServiceProcess, count: number, firstWidth: number) {
  const client = createHttpSender(port);
  const asked = Array.from({ length: count }, async (_, index) => {
    const url = `/UCPennantSample00000001A/tv.avif?width=${firstWidth + index}`;
    const headers = { 'x-forwarded-for': `10.1.${Math.floor(index / 200)}.${index % 200}` };
    return { url, ...(await client.send({ url, headers })) };
  });
  const answers = await Promise.all(asked);
  client.close();
  return answers;
}

/** The service's own memory and its encoders'. */
async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const pids = [pid, ...(await childrenOf(pid))];
  const sizes = await Promise.all(pids.map((one) => residentBytes(one).catch(() => 0)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** How long the slowest look at `/healthz` took. */
function watchHealth({ inside }: ServiceProcess): { stop(): Promise<number> } {
  const client = createHttpSender(Number(new URL(inside).port));
  let isStopped = false;
  const watching = (async () => {
    let slowestMs = 0;
    while (!isStopped) {
      const startedAtMs = performance.now();
      await client.send({ url: '/healthz' });
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      await sleep(20);
    }
    client.close();
    return slowestMs;
  })();
  return {
    stop() {
      isStopped = true;
      return watching;
    },
  };
}

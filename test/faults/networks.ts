import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import type { SentResponse } from '../helpers/http-request.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { ask, askInTurn, describeWaits, TRUSTED } from './bystanders.ts';
import type { FaultContext, FaultService, Subject } from './context.ts';
import { numberedChannelId, startNumberedUpstream } from './numbered-upstream.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples, isRefusal } from './response-faults.ts';

/** Without the override that gives every client of the suite a network of its own. */
const SETTINGS = { ...TRUSTED, RATE_LIMIT_OVERRIDES: '' };
const SAMPLE = 'UCPennantSample00000001A';
const BYSTANDERS = 10;
/** A bystander's request may fail once in ten: the budget of calls may just be spent. */
const SERVED = 9;

/** All addresses of one network send what each of them may. Bystanders of other networks get what they ask for. */
export const networks: Subject = {
  name: 'networks',
  needsQuiet: true,
  async run(context) {
    await context.measure('networks', '254 addresses of a /24 ask for new records', () => askForNewRecords(context));
    await context.measure('networks', '4,000 addresses of a /48 ask for tiny images', () => askForTinyImages(context));
  },
};

interface Flood {
  readonly everyMs: number;
  readonly request: (number: number) => { readonly address: string; readonly url: string };
  readonly bystander: (number: number) => { readonly address: string; readonly url: string };
}

/** Begins the flood, lets it fill the queues, and asks for one thing of each bystander meanwhile. */
async function flood({ isLong }: FaultContext, service: FaultService, { everyMs, request, bystander }: Flood) {
  const attackMs = isLong ? 60_000 : 6_000;
  const cpuBefore = await cpuSeconds(service.pid);
  const flooding = askInTurn(attackMs / everyMs, everyMs, (number) => {
    const { address, url } = request(number);
    return ask(service, address, url);
  });
  await sleep(attackMs / 2);
  const responses = await askInTurn(BYSTANDERS, attackMs / 2 / BYSTANDERS, (number) => {
    const { address, url } = bystander(number);
    return ask(service, address, url);
  });
  const floods = await flooding;
  return { responses, floods, cpu: (await cpuSeconds(service.pid)) - cpuBefore };
}

function judge(what: string, { responses, floods, cpu }: Awaited<ReturnType<typeof flood>>): Outcome {
  const served = responses.filter(({ status }) => status === 200);
  const admitted = floods.filter(({ status }) => status === 200);
  const wrong = [...floods, ...responses].filter((each: SentResponse) => each.status !== 200 && !isRefusal(each));
  const waits = responses.map(({ tookMs }) => tookMs);
  const counts = `${served.length} of ${BYSTANDERS} ${what} of others (${describeWaits(waits)})`;
  return {
    measured: `${counts}; ${admitted.length} of ${floods.length} of theirs; ${cpu.toFixed(1)} s of CPU time`,
    faults: [
      ...wrong.map(({ status }) => `status ${status}`),
      ...findEmptySamples({ admitted: admitted.length, refused: floods.length - admitted.length }),
    ],
    exceeded: served.length < SERVED ? [`fewer than ${SERVED} of ${BYSTANDERS}`] : [],
  };
}

/** At 20 requests a second, twice as many as calls may be made. */
async function askForNewRecords(context: FaultContext): Promise<Outcome> {
  const upstream = await startNumberedUpstream();
  try {
    const service = await context.start({ env: { ...SETTINGS, ...youtubeSettings(upstream.origin) } });
    const outcome = await flood(context, service, {
      everyMs: 50,
      request: (number) => ({
        address: `192.0.2.${number % 254}`,
        url: `/api/channel/${numberedChannelId('r', number)}`,
      }),
      bystander: (number) => ({
        address: `198.51.${number}.1`,
        url: `/api/channel/${numberedChannelId('r', 100_000 + number)}`,
      }),
    });
    await context.cleanUpServices();
    return judge('new records', outcome);
  } finally {
    await upstream.close();
  }
}

/** As many as eight times the encoders make, each another one. */
async function askForTinyImages(context: FaultContext): Promise<Outcome> {
  const service = await context.start({ env: SETTINGS });
  await ask(service, '203.0.113.1', `/${SAMPLE}/tv.jpg`);
  await ask(service, '203.0.113.1', `/${SAMPLE}/avatar.jpg`);
  const outcome = await flood(context, service, {
    everyMs: 2,
    request: (number) => ({
      address: `2001:db8:17:${(number % 4_000).toString(16)}::1`,
      url: `/${SAMPLE}/avatar.webp?width=${16 + (number % 80)}&quality=${1 + (Math.floor(number / 80) % 100)}`,
    }),
    bystander: (number) => ({ address: `198.51.${number}.1`, url: `/${SAMPLE}/tv.avif?width=${600 + number}` }),
  });
  await context.cleanUpServices();
  return judge('AVIFs', outcome);
}

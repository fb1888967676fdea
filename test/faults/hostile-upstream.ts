import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import { FAULTS } from '../helpers/fake-upstream.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import type { FaultContext, Subject } from './context.ts';
import { ALONE_MS, boundRatio, HOT_URLS, startProbe } from './probe.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

const KINDS = ['endlessInterimResponses', 'endlessCrumbs', 'endlessChunkExtension', 'endlessEmptyGzip'] as const;
/** Further calls are not made, because the breaker is open. */
const CALLS = 4;
/** How much longer others may wait than without the attack. */
const MAX_WAIT_RATIO = 20;
/** For each call, and for the others' requests. */
const MAX_CPU_SECONDS = { perCall: 0.5, once: 1 };

/** An upstream whose bytes lead to nothing. Requests for what is in memory must not wait for it. */
export const hostileUpstream: Subject = {
  name: 'hostile-upstream',
  needsQuiet: true,
  async run(context) {
    for (const kind of KINDS) await context.measure('hostile-upstream', kind, () => callIt(context, kind));
  },
};

async function callIt(context: FaultContext, kind: (typeof KINDS)[number]): Promise<Outcome> {
  const upstream = await startReplayServer();
  upstream.misbehave('all', FAULTS[kind]);
  const env = { ...youtubeSettings(upstream.origin), SOURCES: 'catalog,youtube' };
  const service = await context.start({ env });
  const { client } = service;
  for (const url of HOT_URLS) await client.send({ url });
  const aloneProbe = startProbe(service);
  await sleep(ALONE_MS);
  const alone = await aloneProbe.stop();
  const cpu = await cpuSeconds(service.pid);
  const probe = startProbe(service);
  const urls = Array.from({ length: CALLS }, (_, at) => `/api/channel/UChostile0000000000000${at}a`);
  const responses = await Promise.all(urls.map((url) => client.send({ url })));
  const others = await probe.stop();
  const usedCpu = (await cpuSeconds(service.pid)) - cpu;
  await context.cleanUpServices();
  await upstream.close();

  const calls = upstream.calls.length;
  const statuses = responses.map(({ status }) => status);
  const latency = boundRatio(others, alone, MAX_WAIT_RATIO);
  const cpuTime = `${usedCpu.toFixed(1)} s of CPU`;
  return {
    measured: `${calls} calls, responded ${statuses.join(' ')}; ${latency.measured}; ${cpuTime}`,
    faults: [
      ...others.faults.map((fault) => `another client: ${fault}`),
      ...statuses.filter((status) => status < 500).map((status) => `responded ${status}`),
      ...findEmptySamples({ calls, 'requests of others': others.latenciesMs.length }),
    ],
    exceeded: [
      ...latency.exceeded,
      ...(usedCpu > MAX_CPU_SECONDS.once + MAX_CPU_SECONDS.perCall * calls ? [cpuTime] : []),
    ],
  };
}

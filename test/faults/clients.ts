import { residentBytes, type ServiceProcess } from '../helpers/process.ts';
import { type Attack, CONNECTION_ATTACKS } from './client-connections.ts';
import { PIPELINES, REQUEST_ATTACKS } from './client-requests.ts';
import { comesTrue, type FaultContext, type Subject } from './context.ts';
import { boundLatency, HOT_URLS, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import type { Outcome } from './report.ts';
import { countDescriptors } from './service-checks.ts';

const OTHERS = { what: "others' p99", share: 0.99, limitMs: 50 };
const MAX_LEFT_DESCRIPTORS = 10;
const MAX_LEFT_MEMORY = 1.2;
const RECOVERY_MS = 20_000;

/** Hostile clients. Another client must not be affected, and no resources may remain in use afterwards. */
export const clients: Subject = {
  name: 'clients',
  needsQuiet: true,
  async run(context) {
    const service = await context.start();
    await warmUp(service);
    for (const attack of [...CONNECTION_ATTACKS, ...REQUEST_ATTACKS]) {
      await context.measure('clients', attack.name, () => attackOnce(context, service, attack));
    }
  },
};

/** A process grows once with its first connections and load. This growth is no leak. */
async function warmUp(service: ServiceProcess): Promise<void> {
  for (const url of [...HOT_URLS, '/UCPennantSample00000001A/tv.png'])
    await (await fetch(`${service.base}${url}`)).arrayBuffer();
  const probe = startProbe(service);
  for (const socket of await openConnections(service.port, 500)) socket.destroy();
  await PIPELINES.run(service, performance.now() + 3_000);
  await probe.stop();
}

async function attackOnce(context: FaultContext, service: ServiceProcess, attack: Attack): Promise<Outcome> {
  const before = { descriptors: await countDescriptors(service), bytes: await residentBytes(service.pid) };
  const probe = startProbe(service);
  const { done, faults } = await attack.run(service, performance.now() + context.attackMs);
  const others = await probe.stop();
  const left = { descriptors: 0, memory: 0 };
  await comesTrue(async () => {
    left.descriptors = (await countDescriptors(service)) - before.descriptors;
    left.memory = (await residentBytes(service.pid)) / before.bytes;
    return left.descriptors <= MAX_LEFT_DESCRIPTORS && left.memory <= MAX_LEFT_MEMORY;
  }, RECOVERY_MS);

  const latency = boundLatency(others, OTHERS);
  const lost = [...faults, ...others.faults.map((fault) => `another client: ${fault}`)];
  if (left.descriptors > MAX_LEFT_DESCRIPTORS) lost.push(`${left.descriptors} descriptors are left open`);
  const memory = `memory × ${left.memory.toFixed(2)}`;
  return {
    measured: `${done}; ${latency.measured}; descriptors ${signed(left.descriptors)}, ${memory}`,
    faults: lost,
    exceeded: [
      ...latency.exceeded,
      ...(left.memory > MAX_LEFT_MEMORY ? [`${memory}, more than ${MAX_LEFT_MEMORY}`] : []),
    ],
  };
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}

import { countDescriptors, residentBytes, type ServiceProcess } from '../helpers/service-process.ts';
import { type Attack, CONNECTION_ATTACKS } from './client-connections.ts';
import { PIPELINES, REQUEST_ATTACKS } from './client-requests.ts';
import { comesTrue, type FaultContext, type Subject } from './context.ts';
import { HOT_URLS, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import { loadAverage, percentile } from './report.ts';

const MAX_OTHERS_P99_MS = 50;
const MAX_LEFT_DESCRIPTORS = 10;
const MAX_LEFT_MEMORY = 1.2;
const RECOVERY_MS = 20_000;

/** Hostile clients; meanwhile another client must not notice, and afterwards nothing may be left of them. */
export const clients: Subject = {
  name: 'clients',
  async run(context) {
    const service = await context.start();
    await warmUp(service);
    for (const attack of [...CONNECTION_ATTACKS, ...REQUEST_ATTACKS]) {
      let outcome = await attackOnce(context, service, attack);
      // The machine is shared: others may be why somebody had to wait. And what leaks grows each time.
      if (outcome.isWorthAnotherLook) outcome = await attackOnce(context, service, attack);
      context.report.add('clients', attack.name, outcome);
    }
    await context.cleanUp();
  },
};

/** A process grows once with its first connections and its first load, hostile or not, and stays so. */
async function warmUp(service: ServiceProcess): Promise<void> {
  for (const url of [...HOT_URLS, '/UCPennantSample00000001A/tv.png'])
    await (await fetch(`${service.base}${url}`)).arrayBuffer();
  const probe = startProbe(service);
  for (const socket of await openConnections(service.port, 500)) socket.destroy();
  for (let burst = 0; burst < 2; burst += 1) await PIPELINES.run(service, performance.now() + 3_000);
  await probe.stop();
}

interface AttackReport {
  readonly measured: string;
  readonly faults: readonly string[];
  readonly isWorthAnotherLook: boolean;
}

async function attackOnce(context: FaultContext, service: ServiceProcess, attack: Attack): Promise<AttackReport> {
  const before = { descriptors: await countDescriptors(service.pid), bytes: await residentBytes(service.pid) };
  const probe = startProbe(service);
  const { done, faults } = await attack.run(service, performance.now() + context.attackMs);
  const others = await probe.stop();
  const left = { descriptors: 0, memory: 0 };
  await comesTrue(async () => {
    left.descriptors = (await countDescriptors(service.pid)) - before.descriptors;
    left.memory = (await residentBytes(service.pid)) / before.bytes;
    return left.descriptors <= MAX_LEFT_DESCRIPTORS && left.memory <= MAX_LEFT_MEMORY;
  }, RECOVERY_MS);

  const p99Ms = percentile(others.latenciesMs, 0.99);
  const lost = [...faults, ...others.faults.map((fault) => `another client: ${fault}`)];
  if (left.descriptors > MAX_LEFT_DESCRIPTORS) lost.push(`${left.descriptors} descriptors are left open`);
  const exceeded: string[] = [];
  if (left.memory > MAX_LEFT_MEMORY) exceeded.push(`memory is ${left.memory.toFixed(2)} times what it was`);
  if (p99Ms > MAX_OTHERS_P99_MS) {
    exceeded.push(`others' p99 is ${p99Ms.toFixed(0)} ms, more than ${MAX_OTHERS_P99_MS} ms (${loadAverage()})`);
  }
  return {
    measured: `${done}; others' p99 ${p99Ms.toFixed(0)} ms; descriptors ${signed(left.descriptors)}, memory × ${left.memory.toFixed(2)}`,
    faults: [...lost, ...exceeded],
    isWorthAnotherLook: exceeded.length > 0 && lost.length === 0,
  };
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}

import { childrenOf, residentBytes, type ServiceProcess } from '../helpers/process.ts';
import { comesTrue, type FaultContext, type FaultService, type Subject } from './context.ts';
import { makeMemoryGroup } from './memory-group.ts';
import { boundLatency, startProbe } from './probe.ts';
import type { Outcome } from './report.ts';
import { findResponseFaults, isRefusal } from './response-faults.ts';

/** Each client has its own address. */
const SETTINGS = { TRUST_PROXY: '127.0.0.0/8', BASE_URL: 'https://pennant.example' };
const CLIENTS = 200;
const HEALTH = { what: '/healthz', share: 1, limitMs: 200 };
const MAX_LEFT_MEMORY = 1.5;
const RECOVERY_MS = 20_000;
const MIB = 2 ** 20;
const GROUP_BYTES = 1_024 * MIB;

/** More new images than the service can encode, in the memory that every manifest gives it. */
export const floods: Subject = {
  name: 'floods',
  needsQuiet: true,
  async run(context) {
    const group = makeMemoryGroup(GROUP_BYTES);
    const within = group === undefined ? 'no cgroup can be made here' : 'within a cgroup of 1 GiB';
    try {
      await context.measure('floods', `${CLIENTS} clients that request distinct AVIFs, ${within}`, async () => {
        const outcome = await floodTheEncoders(context, group?.enter ?? []);
        const most = group === undefined ? '' : `; at most ${Math.round(group.mostBytes() / MIB)} MiB`;
        return { ...outcome, measured: outcome.measured + most };
      });
    } finally {
      await context.cleanUpServices();
      await comesTrue(() => group?.remove() ?? true, 5_000);
    }
  },
};

/** Many clients, each with a new image in the slowest format. */
async function floodTheEncoders(context: FaultContext, prefix: readonly string[]): Promise<Outcome> {
  const service = await context.start({ env: SETTINGS, prefix });
  // Every encoder has had an image.
  const warmUp = await findResponseFaults(await askFor(service, 4, 500));
  const before = await memoryOf(service);
  const probe = startProbe({ port: Number(new URL(service.inside).port) }, ['/healthz']);
  const responses = await askFor(service, CLIENTS, 600);
  const health = await probe.stop();

  const refused = responses.filter(({ response }) => isRefusal(response));
  const valid = responses.filter((response) => !refused.includes(response));
  const lost = [...warmUp, ...health.faults, ...(await findResponseFaults(valid))];
  if (valid.length === 0 || refused.length === 0) lost.push(`${valid.length} responded, ${refused.length} refused`);
  let left = 0;
  await comesTrue(async () => {
    left = (await memoryOf(service)) / before;
    return left <= MAX_LEFT_MEMORY;
  }, RECOVERY_MS);
  const memory = `memory × ${left.toFixed(2)}`;
  const latency = boundLatency(health, HEALTH);
  await context.cleanUpServices();
  return {
    measured: `${valid.length} valid, ${refused.length} told 503; ${latency.measured}; ${memory}`,
    faults: lost,
    exceeded: [...latency.exceeded, ...(left > MAX_LEFT_MEMORY ? [`${memory}, more than ${MAX_LEFT_MEMORY}`] : [])],
  };
}

async function askFor({ client }: FaultService, count: number, firstWidth: number) {
  const asked = Array.from({ length: count }, async (_, index) => {
    const url = `/UCPennantSample00000001A/tv.avif?width=${firstWidth + index}`;
    const headers = { 'x-forwarded-for': `10.1.${Math.floor(index / 200)}.${index % 200}` };
    return { url, response: await client.send({ url, headers }) };
  });
  return Promise.all(asked);
}

/** The memory of the service and of its encoders. */
async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  // An encoder may end meanwhile.
  const encoders = (await childrenOf(pid)).map((encoder) => residentBytes(encoder).catch(() => 0));
  const sizes = await Promise.all([residentBytes(pid), ...encoders]);
  return sizes.reduce((sum, size) => sum + size, 0);
}

import { comesTrue, type FaultContext, type Subject } from './context.ts';
import { floodTheEncoders } from './encoder-floods.ts';
import { makeMemoryGroup } from './memory-group.ts';

const ENCODER_FLOOD = '200 clients that request distinct AVIFs';
const CGROUP_NAME = `${ENCODER_FLOOD}, within a cgroup of 1 GiB`;
const GIB = 1024 ** 3;

/** More new images than the service can encode. */
export const floods: Subject = { name: 'floods', needsQuiet: true, run: floodWithinCgroup };

async function floodWithinCgroup(context: FaultContext): Promise<void> {
  const group = makeMemoryGroup(GIB);
  if (group === undefined) {
    context.report.skip('floods', CGROUP_NAME, 'no cgroup can be made here');
    await context.measure('floods', ENCODER_FLOOD, () => floodTheEncoders(context));
    return;
  }
  try {
    await context.measure('floods', CGROUP_NAME, async () => {
      const outcome = await floodTheEncoders(context, group.enter);
      const most = group.mostBytes();
      const isLimited = most > 0 && most <= GIB;
      const unlimited = isLimited ? [] : [`${most} bytes were used in it: the limit did not hold`];
      return {
        ...outcome,
        measured: `${outcome.measured}; at most ${Math.round(most / 1024 ** 2)} MiB`,
        faults: [...outcome.faults, ...unlimited],
      };
    });
  } finally {
    await context.cleanUpServices();
    await comesTrue(group.remove, 5_000);
  }
}

import { join } from 'node:path';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { repeat } from '../helpers/load.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** The folder of the operator's own channels is edited while clients request them. */
export const changes: Subject = {
  name: 'changes',
  async run(context) {
    const [channels, rounds] = context.isLong ? [20_000, 50] : [2_000, 10];
    await context.measure('changes', `${channels} own channels edited under load, ${rounds} times`, () =>
      editUnderLoad(context, channels, rounds),
    );
  },
};

/** An operator's change is seen within this time. A busy machine reads 20,000 channels for seconds. */
const SEEN_WITHIN_MS = 20_000;
const MAX_RESPONSE_MS = 1_000;

/** Good files and files with a mistake in turn: no response is older than an earlier one, and none is of a file with a mistake. */
async function editUnderLoad(context: FaultContext, channels: number, rounds: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const write = (version: number, lastLine: string[] = []) => {
    const lines = Array.from({ length: channels }, (_, number) =>
      catalogLine(number, { title: `Version ${version} of channel ${number}` }),
    );
    return writeCatalog(join(directory, 'data'), [...lines, ...lastLine]);
  };
  await write(0);
  const service = await context.start({ directory });
  const faults: string[] = [];
  let newest = 0;
  let responses = 0;
  let slowestMs = 0;

  async function versionOf(url: string): Promise<number> {
    const startedAtMs = performance.now();
    const { status, bytes } = await service.client.send({ url });
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    responses += 1;
    const version = Number(/"title":"Version (\d+) of/.exec(bytes.toString('utf8'))?.[1]);
    if (status !== 200 || Number.isNaN(version)) faults.push(`${url} returned ${status}`);
    return version;
  }

  const load = repeat(3, async () => {
    const before = newest;
    const number = Math.floor(Math.random() * channels);
    const version = await versionOf(
      number % 10 === 0 ? `/api/search?q=channel%20${number}` : `/api/channel/${numberedChannelId(number)}`,
    );
    if (version < before) faults.push(`version ${version} was sent after version ${before}`);
    newest = Math.max(newest, version);
  });
  const first = `/api/channel/${numberedChannelId(0)}`;
  for (let round = 1; round <= rounds; round += 1) {
    await write(round);
    if (!(await comesTrue(async () => (await versionOf(first)) === round, SEEN_WITHIN_MS)))
      faults.push(`version ${round} is not seen`);
    await write(rounds + round, ['{ "channelId": ']);
    const mistake = `line ${channels + 1}: not JSON`;
    const isTold = async () => (await (await fetch(`${service.inside}/readyz`)).text()).includes(mistake);
    if (!(await comesTrue(isTold, SEEN_WITHIN_MS))) faults.push(`the mistake of round ${round} is not a condition`);
    if ((await versionOf(first)) !== round) faults.push(`the last good state of round ${round} is not served`);
  }
  await load.stop();
  faults.push(...(await stopService(service)), ...findEmptySamples({ responses }));
  return {
    measured: `${responses} responses, none older than an earlier one, the slowest after ${slowestMs.toFixed(0)} ms`,
    faults,
    exceeded: slowestMs > MAX_RESPONSE_MS ? [`a response took ${slowestMs.toFixed(0)} ms`] : [],
  };
}

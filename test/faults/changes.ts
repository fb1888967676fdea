import { join } from 'node:path';
import type { HttpSender } from '../helpers/http-request.ts';
import { type Channel, importAnew, readChannels, remove } from './changing-channels.ts';
import { type FaultContext, type Subject, stopService } from './context.ts';
import { findFaultsOf, RECORD_URLS, startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** Imports and removals of the operator's own channels while clients request them: no old data is sent. */
export const changes: Subject = {
  name: 'changes',
  async run(context) {
    const rounds = context.isLong ? 1_000 : 40;
    await context.measure('changes', `imports and removals under load, ${rounds} times`, () =>
      changeUnderLoad(context, rounds),
    );
  },
};

async function changeUnderLoad(context: FaultContext, rounds: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'data');
  const service = await context.start({ directory });
  const { client } = service;
  const channels = readChannels();
  // The first request creates the sample catalog: the load also requests the channel that is never imported.
  const faults = await findFaultsOf(client, RECORD_URLS);
  for (const channel of channels) await importAnew(dataDir, channel);
  const removed = channels.map(({ channelId }) => channelId);
  const load = startMixedLoad(service.port, { clients: 3, removed });
  const counts = { imports: 0, removals: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const channel = channels[round % channels.length] as Channel;
    if (channel.word === undefined || Math.random() < 0.6) {
      await importAnew(dataDir, channel);
      counts.imports += 1;
    } else {
      await remove(dataDir, channel);
      counts.removals += 1;
    }
    const found = await findWrongResponses(client, channel);
    faults.push(...found.map((fault) => `round ${round}: ${fault}`));
  }
  await load.stop();
  for (const channel of channels) faults.push(...(await findWrongResponses(client, channel)));
  faults.push(...(await stopService(service)));
  const { imports, removals } = counts;
  return {
    measured: `${imports} imports, ${removals} removals among ${load.responses} responses; nothing came back`,
    faults: [...faults, ...load.faults, ...findEmptySamples({ responses: load.responses, imports, removals })],
    exceeded: load.overloads,
  };
}

/** Responses about a channel that differ from the catalog. */
async function findWrongResponses(client: HttpSender, channel: Channel): Promise<string[]> {
  const { channelId, handle, word, formerWord } = channel;
  const faults: string[] = [];
  for (const url of [`/api/channel/${channelId}`, `/api/channel/${encodeURIComponent(handle)}?type=handle`]) {
    const { status, bytes } = await client.send({ url });
    const title = status === 200 ? (JSON.parse(bytes.toString('utf8')) as { title: string }).title : undefined;
    if (title !== (word && `Title ${word}`)) faults.push(`${url} returned ${status} ${title}, the catalog has ${word}`);
  }
  if (word !== undefined && !(await isFound(client, channelId, word))) faults.push(`${word} is not found`);
  if (formerWord !== undefined && (await isFound(client, channelId, formerWord))) faults.push(`${formerWord} is found`);
  if (word === undefined) {
    const { status } = await client.send({ url: `/${channelId}/avatar` });
    if (status !== 404) faults.push(`an image of a channel that was removed returned ${status}`);
  }
  return faults;
}

async function isFound(client: HttpSender, channelId: string, word: string): Promise<boolean> {
  const { bytes } = await client.send({ url: `/api/search?q=${word}` });
  const { results = [] } = JSON.parse(bytes.toString('utf8')) as { results?: { channelId: string }[] };
  return results.some((result) => result.channelId === channelId);
}

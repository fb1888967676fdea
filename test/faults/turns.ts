import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import { importChannels } from '../../src/sources/catalog/import.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { withWriter } from '../../src/sources/catalog/writer.ts';
import type { SentResponse } from '../helpers/http-request.ts';
import { ask, askInTurn, describeWaits, TRUSTED } from './bystanders.ts';
import { comesTrue, type FaultContext, metricsOf, metricValue, type Subject } from './context.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples, isRefusal } from './response-faults.ts';

const CHANNEL = 'UCPennantSample00000001A';
/** The requests that one address may send at once. */
const REQUESTS_EACH = 10;

/** Many addresses ask for what is expensive. Bystanders ask for what is cheap, and their wait is measured. */
export const turns: Subject = {
  name: 'turns',
  needsQuiet: true,
  async run(context) {
    if (context.isLong) {
      await context.measure('turns', 'pairs of addresses share their images', () => {
        return floodTheEncoder(context, { addresses: 14, sharedBy: 2, newcomers: 20, withImage: 18 });
      });
    }
    await context.measure('turns', '30 addresses with ten expensive images each', () => {
      return floodTheEncoder(context, { addresses: 30, sharedBy: 1, newcomers: 30, withImage: 27 });
    });
    let catalog: Promise<string> | undefined;
    const catalogDirectory = () => {
      catalog ??= makeCatalogDirectory(context);
      return catalog;
    };
    await context.measure('turns', '60 addresses with ten expensive searches each', async () => {
      return floodTheCatalog(context, await catalogDirectory());
    });
    await context.measure('turns', 'the same searches, for which nobody waits any more', async () => {
      return abandonSearches(context, await catalogDirectory());
    });
  },
};

interface EncoderFlood {
  readonly addresses: number;
  /** How many addresses ask for the same images. */
  readonly sharedBy: number;
  readonly newcomers: number;
  /** How many newcomers must have their image in time. */
  readonly withImage: number;
}

const IMAGE_WITHIN_MS = 3_000;

async function floodTheEncoder(context: FaultContext, flood: EncoderFlood): Promise<Outcome> {
  const { addresses, sharedBy, newcomers, withImage } = flood;
  const service = await context.start({ env: TRUSTED });
  // The originals are stored, and the encoders have started.
  await Promise.all(['tv.jpg', 'avatar.jpg'].map((image) => ask(service, '192.0.2.1', `/${CHANNEL}/${image}`)));
  const asked: Promise<SentResponse>[] = [];
  for (let address = 0; address < addresses; address += 1) {
    const first = 1_000 + Math.floor(address / sharedBy) * REQUESTS_EACH;
    for (let image = 0; image < REQUESTS_EACH; image += 1) {
      const url = `/${CHANNEL}/tv.avif?quality=95&width=${first + image}`;
      asked.push(ask(service, `10.1.0.${address}`, url));
    }
  }
  await sleep(200);
  const responses = await askInTurn(newcomers, 50, (number) => {
    return ask(service, `10.2.0.${number}`, `/${CHANNEL}/avatar.jpg?width=${16 + number}`);
  });
  const flooding = await Promise.all(asked);
  await context.cleanUpServices();
  const inTime = responses.filter(({ status, tookMs }) => status === 200 && tookMs <= IMAGE_WITHIN_MS).length;
  const made = flooding.filter(({ status }) => status === 200).length;
  const wrong = [...flooding, ...responses].filter((each) => each.status !== 200 && !isRefusal(each));
  const waits = responses.map(({ tookMs }) => tookMs);
  return {
    measured: `${inTime} of ${newcomers} newcomers have their image within 3 s (${describeWaits(waits)}); ${made} of ${asked.length} others made`,
    faults: [...wrong.map(({ status }) => `status ${status}`), ...findEmptySamples({ 'expensive images': made })],
    exceeded: inTime < withImage ? [`fewer than ${withImage} newcomers had their image`] : [],
  };
}

const RECORDS = 40;
const RECORD_WITHIN_MS = 500;
const CPU_SECONDS_PER_SEARCH = 0.01;

async function floodTheCatalog(context: FaultContext, directory: string): Promise<Outcome> {
  const service = await context.start({ directory, env: TRUSTED });
  await ask(service, '192.0.2.1', '/api/search?q=a');
  const before = await cpuSeconds(service.pid);
  const searches: Promise<SentResponse>[] = [];
  for (let search = 0; search < 60 * REQUESTS_EACH; search += 1) {
    const client = `10.1.0.${Math.floor(search / REQUESTS_EACH)}`;
    searches.push(ask(service, client, `/api/search?q=${expensiveQuery(search)}`));
  }
  await sleep(200);
  const records = await askInTurn(RECORDS, 50, (number) => {
    return ask(service, `10.2.0.${number}`, `/api/channel/${channelId(1_000 + number)}`);
  });
  const found = await Promise.all(searches);
  const cpu = (await cpuSeconds(service.pid)) - before;
  await context.cleanUpServices();
  const waits = records.map(({ tookMs }) => tookMs);
  const served = records.filter(({ status }) => status === 200).length;
  const foundSearches = found.filter(({ status }) => status === 200).length;
  const slow = waits.filter((wait) => wait > RECORD_WITHIN_MS).length;
  const limit = CPU_SECONDS_PER_SEARCH * searches.length;
  return {
    measured: `${served} of ${RECORDS} records served (${describeWaits(waits)}); ${foundSearches} of ${searches.length} searches, ${cpu.toFixed(1)} s of CPU time`,
    faults: [
      ...records.filter(({ status }) => status !== 200).map(({ status }) => `a record returned ${status}`),
      ...findEmptySamples({ searches: foundSearches }),
    ],
    exceeded: [
      ...(slow > RECORDS / 10 ? [`${slow} records took longer than ${RECORD_WITHIN_MS} ms`] : []),
      ...(cpu > limit ? [`more than ${limit} s of CPU time`] : []),
    ],
  };
}

const LEAVE_WITHIN_MS = 4_000;
/** The results of each search stay in memory. */
const SEARCHES_BEGUN = 'pennant_held_entries{holder="rows of the catalog"}';
const SEARCHES_WAITING = 'pennant_held_entries{holder="waiting catalog searches"}';

/** The clients disconnect while most searches wait. Those leave the queue, so that the next search is first. */
async function abandonSearches(context: FaultContext, directory: string): Promise<Outcome> {
  const service = await context.start({ directory, env: TRUSTED });
  const leaving = new AbortController();
  const searches = Array.from({ length: 60 * REQUESTS_EACH }, (_, search) => {
    const headers = { 'x-forwarded-for': `10.1.0.${Math.floor(search / REQUESTS_EACH)}` };
    const url = `/api/search?q=${expensiveQuery(1_000 + search)}`;
    return service.client.send({ url, headers, signal: leaving.signal });
  });
  const outcomes = Promise.allSettled(searches);
  await comesTrue(async () => metricValue(await metricsOf(service), SEARCHES_WAITING) > 100, LEAVE_WITHIN_MS);
  leaving.abort();
  await outcomes;
  const isEmpty = async () => metricValue(await metricsOf(service), SEARCHES_WAITING) === 0;
  const hasLeft = await comesTrue(isEmpty, LEAVE_WITHIN_MS);
  const begun = metricValue(await metricsOf(service), SEARCHES_BEGUN, 0);
  const next = await ask(service, '10.2.0.1', `/api/search?q=${expensiveQuery(9_999)}`);
  await context.cleanUpServices();
  return {
    measured: `${begun} of ${searches.length} searches were begun; the next client's search returned ${next.status}`,
    faults: [
      ...(hasLeft ? [] : ['searches for which nobody waits are still in the queue']),
      ...(next.status === 200 ? [] : [`the next search returned ${next.status}`]),
    ],
    exceeded: begun > searches.length / 2 ? ['more than half of the searches were begun'] : [],
  };
}

/** Eleven letters each: longer than the prefixes that the index has. */
const STEMS = (
  'photographe internation communicati development celebration ' +
  'exploration programming instruments mathematics electronics'
).split(' ');

/** A different order of eight prefixes for each number. */
function expensiveQuery(number: number): string {
  const left = [...STEMS];
  const words: string[] = [];
  for (let rest = number; words.length < 8; rest = Math.floor(rest / (left.length + 1))) {
    words.push(...left.splice(rest % left.length, 1));
  }
  return words.join('+');
}

function channelId(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

async function makeCatalogDirectory(context: FaultContext): Promise<string> {
  const directory = await context.newDirectory();
  await makeCatalog(join(directory, 'data'), context.isLong ? 250_000 : 60_000);
  return directory;
}

/** Channels whose words have the same beginnings and a thousand different ends. */
async function makeCatalog(directory: string, count: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  await withWriter(catalogPaths(directory), async (writer) => {
    await importChannels(writer, Readable.from(catalogLines(count).map((line) => Buffer.from(line))), {
      imagesFrom: directory,
    });
  });
}

function* catalogLines(count: number): Generator<string> {
  for (let number = 0; number < count; number += 1) {
    const word = (at: number) => `${STEMS[(number * 7 + at * 3) % STEMS.length]}${ending(number * 31 + at * 17)}`;
    const description = [2, 3, 4, 5, 6, 7, 8, 9].map(word).join(' ');
    const subscriberCount = String((number * 7_919) % 1_000_000);
    const title = `${word(0)} ${word(1)} ${number}`;
    yield `${JSON.stringify({ channelId: channelId(number), title, description, subscriberCount })}\n`;
  }
}

/** Three letters. */
function ending(number: number): string {
  return String(number % 997)
    .padStart(3, '0')
    .replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
}

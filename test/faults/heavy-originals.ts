import { randomBytes } from 'node:crypto';
import { link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import type { SentResponse } from '../helpers/http-request.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import type { FaultContext, FaultService, Subject } from './context.ts';
import { startNumberedUpstream, numberedChannelId as upstreamId } from './numbered-upstream.ts';
import { boundLatency, startProbe } from './probe.ts';
import type { Outcome } from './report.ts';
import { isRefusal } from './response-faults.ts';
import { watchMemory } from './watch-memory.ts';

/** Every client is limited. */
const SETTINGS = { TRUST_PROXY: '127.0.0.0/8', RATE_LIMIT_OVERRIDES: '' };
/** What a client may ask for in 30 s. */
const ALLOWED = 10;
const MIB = 2 ** 20;
const MAX_RESIDENT_BYTES = 400 * MIB;
const BYSTANDERS = 50;
const BYSTANDERS_EVERY_MS = 250;

/** Few clients, each within its limit, ask for what costs most. */
export const heavyOriginals: Subject = {
  name: 'heavy originals',
  needsQuiet: true,
  async run(context) {
    for (const encoders of [1, 2]) {
      const attack = `${encoders} addresses ask ${encoders} encoders for ever-new sizes of 49 megapixels`;
      await context.measure('heavy originals', attack, () => askForLargeSizes(context, encoders));
    }
    await context.measure('heavy originals', '50 own pictures of 16 MiB', () => askForOwnPictures(context));
    await context.measure('heavy originals', '100 originals of 4.6 MiB', () => askForOriginals(context));
  },
};

/** As many addresses as encoders, each in its own network. Others ask for small new images meanwhile. */
async function askForLargeSizes(context: FaultContext, encoders: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const [heavy, light] = [numberedChannelId(1), numberedChannelId(2)];
  const files = { 'heavy.jpg': await noise(7_000, 7_000, 'jpeg'), 'light.jpg': await noise(800, 800, 'jpeg') };
  const lines = [catalogLine(1, { avatarFile: 'heavy.jpg' }), catalogLine(2, { avatarFile: 'light.jpg' })];
  await writeCatalog(join(directory, 'data'), lines, files);
  const service = await context.start({ directory, env: { ...SETTINGS, ENCODERS: String(encoders) } });
  await ask(service, '203.0.113.1', `/${light}/avatar.webp?width=100`);
  const attacks = Array.from({ length: encoders * ALLOWED }, (_, number) => {
    const size = `width=4096&height=${4_096 - number}&quality=100`;
    return ask(service, `192.0.${number % encoders}.1`, `/${heavy}/avatar.avif?${size}`);
  });
  const asked: Promise<SentResponse & { readonly tookMs: number }>[] = [];
  for (let number = 0; number < BYSTANDERS; number += 1) {
    asked.push(timed(() => ask(service, `198.51.${number}.1`, `/${light}/avatar.webp?width=${200 + number}`)));
    await sleep(BYSTANDERS_EVERY_MS);
  }
  const responses = await Promise.all(asked);
  await Promise.all(attacks);
  await context.cleanUpServices();
  const served = responses.filter(({ status }) => status === 200);
  const wrong = responses.filter((response) => response.status !== 200 && !isRefusal(response));
  const waits = responses.map(({ tookMs }) => tookMs);
  return {
    measured: `${served.length} of ${BYSTANDERS} new images of others, the last one after ${Math.max(...waits).toFixed(0)} ms`,
    faults: wrong.map(({ status }) => `status ${status}`),
    exceeded: served.length < BYSTANDERS ? [`fewer than ${BYSTANDERS}`] : [],
  };
}

function ask({ client }: FaultService, address: string, url: string): Promise<SentResponse> {
  return client.send({ url, headers: { 'x-forwarded-for': address } });
}

async function timed(send: () => Promise<SentResponse>) {
  const startedAtMs = performance.now();
  const response = await send();
  return { ...response, tookMs: performance.now() - startedAtMs };
}

async function askForOwnPictures(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const count = 50;
  const data = join(directory, 'data');
  const nameOf = (number: number) => `${number}.png`;
  const lines = Array.from({ length: count }, (_, number) => catalogLine(number, { avatarFile: nameOf(number) }));
  await writeCatalog(data, lines);
  const images = join(data, 'catalog', 'images');
  await writeFile(join(images, nameOf(0)), await noise(2_360, 2_360, 'png'));
  for (let number = 1; number < count; number += 1) await link(join(images, nameOf(0)), join(images, nameOf(number)));
  const service = await context.start({ directory, env: SETTINGS });
  return askForAll(context, service, count, (number) => `/${numberedChannelId(number)}/avatar.webp?width=64`);
}

async function askForOriginals(context: FaultContext): Promise<Outcome> {
  const upstream = await startNumberedUpstream(await noise(1_265, 1_265, 'png'));
  try {
    const env = { ...SETTINGS, ...youtubeSettings(upstream.origin), UPSTREAM_CALLS_PER_SECOND: '1000' };
    const service = await context.start({ env });
    return await askForAll(context, service, 100, (number) => `/${upstreamId('r', number)}/avatar.webp?width=64`);
  } finally {
    await upstream.close();
  }
}

/** Each address asks for as much as it may, at once. */
async function askForAll(
  context: FaultContext,
  service: FaultService,
  count: number,
  urlOf: (number: number) => string,
): Promise<Outcome> {
  const hot = '/problems';
  await ask(service, '203.0.113.1', hot);
  const memory = watchMemory(service);
  const probe = startProbe({ port: Number(new URL(service.inside).port) }, ['/healthz']);
  await probe.begun;
  const responses = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      ask(service, `192.0.${Math.floor(number / ALLOWED)}.1`, urlOf(number)),
    ),
  );
  const latency = boundLatency(await probe.stop(), { what: '/healthz', share: 1, limitMs: 500 });
  const mostBytes = await memory.stop();
  await context.cleanUpServices();
  const served = responses.filter(({ status }) => status === 200);
  const wrong = responses.filter((response) => response.status !== 200 && !isRefusal(response));
  const memoryText = `at most ${Math.round(mostBytes / MIB)} MiB`;
  return {
    measured: `${served.length} of ${count}; ${latency.measured}; ${memoryText}`,
    faults: [...wrong.map(({ status }) => `status ${status}`), ...(served.length === 0 ? ['no image was made'] : [])],
    exceeded: [...latency.exceeded, ...(mostBytes > MAX_RESIDENT_BYTES ? [memoryText] : [])],
  };
}

/** Noise, which no format makes smaller. */
function noise(width: number, height: number, format: 'jpeg' | 'png'): Promise<Buffer> {
  const raw = { width, height, channels: 3 } as const;
  const image = sharp(randomBytes(width * height * 3), { raw });
  return format === 'jpeg' ? image.jpeg({ quality: 30 }).toBuffer() : image.png({ compressionLevel: 0 }).toBuffer();
}

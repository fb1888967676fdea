import type { RequestListener } from 'node:http';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import type { HttpSender, SentResponse } from '../helpers/http-request.ts';
import { decodeImage } from '../helpers/image.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { startBannerChannels } from './banner-channels.ts';
import { type FaultContext, type Subject, stopService } from './context.ts';
import { IMAGE_CASES, type ImageCase } from './image-cases.ts';
import { loadAverage, type Outcome } from './report.ts';

/** No request takes longer. */
const LONGEST_MS = 12_000;

const CARD = { width: 32, height: 18 };

/** Hostile images. */
export const images: Subject = {
  name: 'images',
  async run(context) {
    await serveStrangeImages(context);
  },
};

async function serveStrangeImages(context: FaultContext): Promise<void> {
  const originals = IMAGE_CASES.map(async ({ contentType = 'image/png', make }) =>
    respondWithStatus(200, { 'content-type': contentType }, await make()),
  );
  const card = respondWithStatus(200, { 'content-type': 'image/png' }, await drawTestCard(CARD).png().toBuffer());
  await serve(context, [...(await Promise.all(originals)), ...IMAGE_CASES.map(() => card)], async (client) => {
    for (const [index, one] of IMAGE_CASES.entries()) {
      await context.measure('images', one.name, () => askForFormats(client, index, one));
      // Five failures in a row would open the breaker of the image hosts.
      await client.send({ url: `/${channelIdOf(IMAGE_CASES.length + index)}/tv.jpeg?width=16` });
    }
  });
}

/** A service whose upstream has these banners, each of another channel. */
async function serve(
  context: FaultContext,
  banners: readonly RequestListener[],
  use: (client: HttpSender) => Promise<void>,
): Promise<void> {
  const replay = await startBannerChannels(banners.map((send, index) => ({ channelId: channelIdOf(index), send })));
  const service = await context.start({ env: youtubeSettings(replay.origin) });
  const { client } = service;
  await use(client);
  await stopService(service);
  await replay.close();
}

async function askForFormats(client: HttpSender, index: number, one: ImageCase): Promise<Outcome> {
  const found: string[] = [];
  const faults: string[] = [];
  const exceeded: string[] = [];
  for (const format of ['png', 'jpeg', 'avif']) {
    const startedAtMs = performance.now();
    const response = await client.send({ url: `/${channelIdOf(index)}/tv.${format}?width=640` });
    const tookMs = performance.now() - startedAtMs;
    const what = await describe(response);
    found.push(what);
    if (what !== expectationOf(one, format)) faults.push(`${format}: ${what} instead of ${expectationOf(one, format)}`);
    if (tookMs > LONGEST_MS) exceeded.push(`${format} took ${tookMs.toFixed(0)} ms (${loadAverage()})`);
    if (response.bytes.includes('<script>')) faults.push(`${format}: carries what was hidden in the original`);
  }
  return { measured: [...new Set(found)].join(', '), faults, exceeded };
}

function expectationOf({ expected }: ImageCase, format: string): string {
  if (expected === 502) return '502 upstream_invalid';
  // Upstream sends HTML to clients that it blocks.
  return expected === 503 ? '503 upstream_unavailable' : `${format} ${expected}`;
}

async function describe({ status, bytes }: SentResponse): Promise<string> {
  if (status !== 200) return `${status} ${(JSON.parse(bytes.toString('utf8')) as { code: string }).code}`;
  const { format, width, height } = await decodeImage(bytes);
  return `${format} ${width}×${height}`;
}

function channelIdOf(index: number): string {
  return `UCstrangeimage${String(index).padStart(10, '0')}`;
}

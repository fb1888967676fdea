import { createHttpSender, type SentAnswer } from '../helpers/http-request.ts';
import { decodePicture } from '../helpers/picture.ts';
import { jsonAnswer, type ReplayAnswer } from '../helpers/replay-answers.ts';
import { startReplayServer } from '../helpers/replay-server.ts';
import { youtubeSettings } from '../helpers/youtube-service.ts';
import { encodersOf, type FaultContext, type Subject } from './context.ts';
import { PICTURE_CASES, type PictureCase } from './picture-cases.ts';
import { HOT_URLS, startProbe } from './probe.ts';

/** CONTRACT section 8: no request takes longer. */
const LONGEST_MS = 12_000;

/** Pictures that no codec should meet, and a codec that hangs. */
export const pictures: Subject = {
  name: 'pictures',
  async run(context) {
    await serveStrangePictures(context);
    await hangTheCodec(context);
  },
};

async function serveStrangePictures(context: FaultContext): Promise<void> {
  const bytes = await Promise.all(PICTURE_CASES.map((one) => one.make()));
  const replay = await startReplayServer({
    answers: PICTURE_CASES.map((_, index) => channelPage(index)),
    findImage(path) {
      const index = Number(/^\/banner-(\d+)=/.exec(path)?.[1]);
      const found = bytes[index];
      return found && { contentType: PICTURE_CASES[index]?.contentType ?? 'image/png', bytes: found };
    },
  });
  const service = await context.start({ env: youtubeSettings(replay.origin) });
  const client = createHttpSender(service.port);
  for (const [index, one] of PICTURE_CASES.entries()) {
    const found: string[] = [];
    const faults: string[] = [];
    for (const format of ['png', 'jpeg', 'avif']) {
      const startedAtMs = performance.now();
      const answer = await client.send({ url: `/${channelIdOf(index)}/tv.${format}?width=640` });
      const what = await describe(answer);
      found.push(what);
      if (what !== expectationOf(one, format))
        faults.push(`${format}: ${what} instead of ${expectationOf(one, format)}`);
      if (performance.now() - startedAtMs > LONGEST_MS) faults.push(`${format}: took too long`);
      if (answer.bytes.includes('<script>')) faults.push(`${format}: carries what was hidden in the original`);
    }
    context.report.add('pictures', one.name, { measured: [...new Set(found)].join(', '), faults });
  }
  client.close();
  await context.cleanUpServices();
  await replay.close();
}

function expectationOf({ expected }: PictureCase, format: string): string {
  if (expected === 502) return '502 upstream_invalid';
  // HTML is what upstream shows to those it blocks.
  return expected === 503 ? '503 upstream_unavailable' : `${format} ${expected}`;
}

async function describe({ status, bytes }: SentAnswer): Promise<string> {
  if (status !== 200) return `${status} ${(JSON.parse(bytes.toString('utf8')) as { code: string }).code}`;
  const { format, width, height } = await decodePicture(bytes);
  return `${format} ${width}×${height}`;
}

function channelIdOf(index: number): string {
  return `UCstrangepicture${String(index).padStart(8, '0')}`;
}

function channelPage(index: number): ReplayAnswer {
  const channelId = channelIdOf(index);
  const thumbnails = [{ url: `https://yt3.googleusercontent.com/banner-${index}=w1060`, width: 1060, height: 175 }];
  return jsonAnswer(
    'browse',
    { browseId: channelId },
    {
      metadata: { channelMetadataRenderer: { externalId: channelId, title: `Channel ${index}` } },
      header: { c4TabbedHeaderRenderer: { banner: { thumbnails } } },
    },
  );
}

async function hangTheCodec(context: FaultContext): Promise<void> {
  const service = await context.start({ env: { ENCODERS: '1' } });
  const client = createHttpSender(service.port);
  // The original is known before: what hangs is the encode.
  for (const url of [...HOT_URLS, '/UCPennantSample00000001A/tv.webp?width=776']) await client.send({ url });
  const probe = startProbe(service);
  for (const pid of await encodersOf(service)) process.kill(pid, 'SIGSTOP');
  const startedAtMs = performance.now();
  const hung = await client.send({ url: '/UCPennantSample00000001A/tv.webp?width=777' });
  const seconds = (performance.now() - startedAtMs) / 1000;
  const next = await client.send({ url: '/UCPennantSample00000001A/tv.webp?width=778' });
  const others = await probe.stop();
  client.close();
  const faults = [...others.faults];
  if (hung.status !== 503 || hung.headers['retry-after'] === undefined) faults.push(`answered ${hung.status}`);
  if (seconds > LONGEST_MS / 1000) faults.push(`answered after ${seconds.toFixed(1)} s`);
  if (next.status !== 200) faults.push(`the next picture: ${next.status}`);
  const measured = `told 503 after ${seconds.toFixed(1)} s, the codec replaced, the next picture made; others not touched`;
  context.report.add('pictures', 'a codec that hangs', { measured, faults });
}

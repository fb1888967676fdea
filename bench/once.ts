import { startService } from '../test/helpers/process.ts';
import { startReplayServer, youtubeSettings } from '../test/helpers/replay-server.ts';
import { readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { countEncodes } from './service-metrics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const REQUESTS = 1_000;
const PICTURE = '/UCreplayLighthouse000001/desktop.avif';
/** A slow upstream, so that all requests are waiting before the first result. */
const DOWNLOAD_MS = 2_000;

interface Outcome {
  readonly downloads: number;
  readonly encodes: number;
  readonly goodAnswers: number;
  readonly distinctAnswers: number;
  readonly ms: number;
}

/** A new channel that all clients request at the same moment. */
export function benchOnce(): Promise<Row[]> {
  return inTemporaryDirectory(benchIn);
}

async function benchIn(directory: string): Promise<Row[]> {
  const [banner] = await readSampleBanners();
  if (banner === undefined) throw new Error('There is no picture to serve');
  const upstream = await startReplayServer();
  upstream.misbehave('image', (_request, response) => {
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(banner.bytes), DOWNLOAD_MS);
  });
  try {
    const service = await startService({ directory, env: youtubeSettings(upstream.origin) });
    try {
      const answers = await askAtOnce(service.base + PICTURE);
      const outcome: Outcome = {
        ...answers,
        downloads: upstream.callsTo('image').length,
        encodes: await countEncodes(service.inside),
      };
      return [rowOf(outcome)];
    } finally {
      await stopProcess(service.child);
    }
  } finally {
    await upstream.close();
  }
}

async function askAtOnce(url: string) {
  const startedMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      const response = await fetch(url);
      const body = Buffer.from(await response.arrayBuffer()).toString('base64');
      return { status: response.status, content: `${response.headers.get('etag')} ${body}` };
    }),
  );
  return {
    goodAnswers: answers.filter(({ status }) => status === 200).length,
    distinctAnswers: new Set(answers.map(({ content }) => content)).size,
    ms: performance.now() - startedMs,
  };
}

function rowOf(outcome: Outcome): Row {
  const { downloads, encodes, goodAnswers, distinctAnswers, ms } = outcome;
  const counts = `${downloads} downloads, ${encodes} encodes, ${goodAnswers} good answers, ${distinctAnswers} distinct`;
  return {
    part: 'once',
    what: `${REQUESTS} cold requests at once for one picture (a download takes ${DOWNLOAD_MS / 1000} s)`,
    measured: `${counts}, ${(ms / 1000).toFixed(1)} s`,
    target: `1 download, 1 encode, ${REQUESTS} equal answers`,
    isMet: downloads === 1 && encodes === 1 && goodAnswers === REQUESTS && distinctAnswers === 1,
    figures: outcome,
  };
}

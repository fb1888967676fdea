import { join } from 'node:path';
import { catalogLine, writeCatalog } from '../test/helpers/catalog.ts';
import { numberedChannelId } from '../test/helpers/fake-source.ts';
import { readMetrics } from '../test/helpers/metrics.ts';
import { type ServiceProcess, startService } from '../test/helpers/process.ts';
import type { BenchImage } from './images.ts';
import { ON_SERVER_CORE } from './processes.ts';

/** The sample channel with every kind of field and image. */
export const SAMPLE_CHANNEL = 'UCPennantSample00000001A';

/**
 * The service as an operator starts it behind a proxy, on the servers' core, with the sample catalog.
 *
 * @param settings additional settings
 */
export async function startPinnedService(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const service = await startService({
    directory,
    prefix: ON_SERVER_CORE,
    env: {
      BASE_URL: 'https://pennant.example',
      TRUST_PROXY: '127.0.0.0/8',
      RATE_LIMIT_OVERRIDES: '',
      LOG_LEVEL: 'warn',
      ...settings,
    },
  });
  // The access log of a round is too much to keep.
  service.child.stdout?.removeAllListeners('data').resume();
  return service;
}

export interface PhotoService extends ServiceProcess {
  /** The address of an image's crop, with `variant.format` and any parameters behind the last slash. */
  urlOf(image: BenchImage, rest: string): string;
}

/** The service with a catalog whose channels have these images as banners, free to use every core. */
export async function startPhotoService(
  directory: string,
  images: readonly BenchImage[],
  env: Readonly<Record<string, string>> = {},
): Promise<PhotoService> {
  const files = Object.fromEntries(images.map(({ name, bytes }) => [`${name}.jpg`, bytes]));
  const lines = images.map(({ name }, at) => catalogLine(at, { bannerFile: `${name}.jpg` }));
  await writeCatalog(join(directory, 'data'), lines, files);
  const service = await startService({ directory, env: { LOG_LEVEL: 'warn', ...env } });
  return {
    ...service,
    urlOf: (image, rest) => `${service.base}/${numberedChannelId(images.indexOf(image))}/${rest}`,
  };
}

/** The body of a response. Throws if it is not a 200. */
export async function fetchGood(url: string): Promise<Buffer> {
  const response = await fetch(url);
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${body}`);
  return body;
}

/** One value of a service's metrics, by its name with labels. 0 if the series does not exist yet. */
export async function readMetric(service: Pick<ServiceProcess, 'inside'>, name: string): Promise<number> {
  return (await metricsOf(service)).get(name) ?? 0;
}

/** Throws if a response so far was not a 200. */
export async function assertAllGood(service: Pick<ServiceProcess, 'inside'>): Promise<void> {
  for (const [name, count] of await metricsOf(service)) {
    const isOther = name.startsWith('pennant_http_requests_total{') && !name.includes('status="200"');
    if (isOther && count > 0) throw new Error(`${name} is ${count}: the rounds do not count.`);
  }
}

async function metricsOf({ inside }: Pick<ServiceProcess, 'inside'>): Promise<ReadonlyMap<string, number>> {
  return readMetrics(await (await fetch(`${inside}/metrics`)).text());
}

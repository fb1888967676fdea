import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PATH_WITH_SERVERS } from '../test/helpers/installed.ts';
import { findFreePort, type StartedProcess, startProcess } from '../test/helpers/process.ts';
import { type BenchImage, readBackgrounds, readSampleBanners } from './images.ts';
import { isInstalled, stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { fetchGood, startPhotoService } from './servers.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const HOUR_SECONDS = 3_600;
const VIEW_SECONDS = 5;
/** A copy is asked for again after 30 s, which begins the second encoding, and after 60 s. */
const WATCHED_SECONDS = 75;
const CROPS = ['tv.avif', 'desktop.avif', 'mobile.avif'] as const;
const IMAGES_PER_GROUP = 2;

/** An nginx that follows or ignores the field that concerns first encodings. */
type Cache = 'following' | 'ignoring';

/** What a popular image weighs for its viewers behind a shared cache. */
export async function bench(print: Print): Promise<Row[]> {
  if (!isInstalled('nginx')) {
    print('skipped: nginx is not installed');
    return [];
  }
  const groups = { samples: await readSampleBanners(), photographs: await readBackgrounds() };
  const images = Object.values(groups).flatMap((group) => group.slice(0, IMAGES_PER_GROUP));
  return inTemporaryDirectory((directory) => watch(directory, images, print));
}

/** Views every image every 5 s through both caches, until the copies no longer change. */
async function watch(directory: string, images: readonly BenchImage[], print: Print): Promise<Row[]> {
  const service = await startPhotoService(directory, images, { RATE_LIMIT_OVERRIDES: '127.0.0.0/8=unlimited' });
  const front = await startCaches(directory, service.port);
  const paths = CROPS.flatMap((crop) =>
    images.map((image) => ({ crop, path: new URL(service.urlOf(image, crop)).pathname })),
  );
  /** Bytes of each view so far, by cache and path. */
  const views = new Map<string, number[]>();
  try {
    print(`viewing ${paths.length} images every ${VIEW_SECONDS} s for ${WATCHED_SECONDS} s`);
    const startedMs = performance.now();
    for (let second = 0; second <= WATCHED_SECONDS; second += VIEW_SECONDS) {
      await pause(Math.max(0, startedMs + second * 1_000 - performance.now()));
      for (const { path } of paths) {
        for (const [cache, port] of Object.entries(front.ports)) {
          const { length } = await fetchGood(`http://127.0.0.1:${port}${path}`);
          views.set(cache + path, [...(views.get(cache + path) ?? []), length]);
        }
      }
    }
  } finally {
    await stopProcess(front.nginx);
    await stopProcess(service);
  }
  return CROPS.map((crop) => {
    const perView = (cache: Cache) => {
      const means = paths
        .filter((each) => each.crop === crop)
        .map(({ path }) => bytesPerView(views.get(cache + path) ?? []));
      return means.reduce((sum, mean) => sum + mean, 0) / means.length / 1_024;
    };
    const [before, after] = [perView('ignoring'), perView('following')];
    return {
      part: 'behind',
      what: `${crop} through nginx, viewed every ${VIEW_SECONDS} s in its first hour`,
      measured: `${after.toFixed(1)} KiB a view; ${before.toFixed(1)} KiB without X-Accel-Expires`,
      target: 'fewer bytes',
      isMet: after < before,
      figures: { views: Object.fromEntries(views) },
    };
  });
}

/** Of an hour in which the last copy stays. */
function bytesPerView(views: readonly number[]): number {
  const inHour = HOUR_SECONDS / VIEW_SECONDS;
  const watched = views.reduce((sum, bytes) => sum + bytes, 0);
  return (watched + (views.at(-1) ?? 0) * (inHour - views.length)) / inHour;
}

/** An nginx with two caches of its own, which otherwise do what the service tells them. */
async function startCaches(
  directory: string,
  servicePort: number,
): Promise<{ readonly nginx: StartedProcess; readonly ports: Readonly<Record<Cache, number>> }> {
  const ports = { following: await findFreePort(), ignoring: await findFreePort() };
  const server = (cache: Cache, ignored: string) => `server {
    listen 127.0.0.1:${ports[cache]};
    location / {
      proxy_pass http://127.0.0.1:${servicePort};
      proxy_cache images;
      proxy_cache_key ${cache}$request_uri;
      proxy_cache_revalidate on;
      ${ignored}
    }
  }`;
  const file = join(directory, 'nginx.conf');
  // When root starts nginx, its workers run as another user.
  await chmod(directory, 0o755);
  await writeFile(
    file,
    `pid ${join(directory, 'nginx.pid')};
error_log stderr notice;
worker_processes 1;
events {}
http {
  access_log off;
  proxy_cache_path ${join(directory, 'copies')} keys_zone=images:1m;
  ${server('following', '')}
  ${server('ignoring', 'proxy_ignore_headers X-Accel-Expires;')}
}
`,
  );
  const nginx = startProcess('nginx', ['-c', file, '-e', 'stderr', '-g', 'daemon off;'], {
    env: { PATH: PATH_WITH_SERVERS },
  });
  await nginx.printed(/start worker process/);
  return { nginx, ports };
}

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '../test/helpers/process.ts';
import { fetchGood } from './answer.ts';
import type { Peer } from './peers.ts';
import type { BenchPicture } from './pictures.ts';
import { isInstalled, stopProcess } from './processes.ts';

const PACKAGE = 'libnginx-mod-http-image-filter';
const MODULE = '/usr/lib/nginx/modules/ngx_http_image_filter_module.so';

/**
 * nginx with the module `image_filter` and its default quality. It crops around the middle and keeps the original's format,
 * so it is compared for JPEG only. `undefined`, with a message, if it is not available.
 */
export async function startImageFilter(
  directory: string,
  pictures: readonly BenchPicture[],
  print: (line: string) => void,
): Promise<Peer | undefined> {
  if (!existsSync(MODULE)) await install(print);
  if (!existsSync(MODULE) || !(await isInstalled('nginx'))) return undefined;
  const root = join(directory, 'image-filter');
  await mkdir(root);
  for (const { name, bytes } of pictures) await writeFile(join(root, `${name}.jpg`), bytes);
  const port = await findFreePort();
  const configPath = join(directory, 'image-filter.conf');
  await writeFile(
    configPath,
    `load_module ${MODULE};
daemon off;
master_process off;
pid ${directory}/image-filter.pid;
error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${directory};
  proxy_temp_path ${directory};
  fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory};
  scgi_temp_path ${directory};
  server {
    listen 127.0.0.1:${port};
    location ~ ^/(?<width>\\d+)x(?<height>\\d+)/(?<name>.+)$ {
      root ${root};
      try_files /$name =404;
      image_filter crop $width $height;
      image_filter_buffer 16M;
    }
  }
}
`,
  );
  const child = spawn('nginx', ['-c', configPath, '-e', 'stderr'], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    name: 'nginx image_filter',
    formats: ['jpeg'],
    make: (picture, { width, height }) => fetchGood(`http://127.0.0.1:${port}/${width}x${height}/${picture.name}.jpg`),
    stop: () => stopProcess(child),
  };
}

async function install(print: (line: string) => void): Promise<void> {
  try {
    await promisify(execFile)('apt-get', ['install', '--yes', '--no-install-recommends', PACKAGE]);
  } catch (error) {
    print(`${PACKAGE} is not installed and cannot be (${String(error).split('\n')[0]}).`);
  }
}

import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, PROGRAM } from '../test/helpers/process.ts';
import type { CapturedAnswer } from './answer.ts';
import { isInstalled, SERVER_CORE, spawnPinned, stopProcess, waitForLine } from './processes.ts';
import { readMetric } from './service-metrics.ts';

/** A server under load, as a separate process on the servers' core. */
export interface BenchServer {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Service extends BenchServer {
  /** Throws if it has sent responses other than 200, by its own count. */
  assertAllGood(): Promise<void>;
  /** The number of requests that the limiter has decided without Redis so far. */
  countDecidedAlone(): Promise<number>;
  /** The number of pictures that it has encoded again so far. */
  countReEncodes(): Promise<number>;
}

const BARE_SERVER = fileURLToPath(new URL('bare-server.ts', import.meta.url));

/**
 * The service as an operator starts it behind a proxy, with the sample catalog and an empty directory.
 *
 * @param settings additional settings
 */
export async function startService(directory: string, settings: Record<string, string> = {}): Promise<Service> {
  await mkdir(directory, { recursive: true });
  const consolePort = await findFreePort();
  const child = spawnPinned(SERVER_CORE, process.execPath, [PROGRAM, 'serve'], {
    // Not the project's directory, which may contain an operator's .env.
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      CONSOLE_PORT: String(consolePort),
      DATA_DIR: join(directory, 'data'),
      SOURCES: 'catalog',
      BASE_URL: 'https://pennant.example',
      TRUST_PROXY: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
      ...settings,
    },
  });
  const [port] = await waitForLine(child, /listens on 127\.0\.0\.1:(\d+)/);
  const consoleUrl = `http://127.0.0.1:${consolePort}`;
  return {
    ...serverOf('ACCESS_LOG' in settings ? 'Pennant with access log' : 'Pennant', child, `http://127.0.0.1:${port}`),
    async assertAllGood() {
      const metrics = await (await fetch(`${consoleUrl}/metrics`)).text();
      const counts = metrics.matchAll(/^pennant_http_requests_total\{.*status="(\d+)".*\} (\d+)$/gm);
      const others = [...counts].reduce((sum, [, status, count]) => sum + (status === '200' ? 0 : Number(count)), 0);
      if (others > 0) throw new Error(`${others} of the answers were not a 200: the rounds do not count.`);
    },
    countDecidedAlone: () => readMetric(consoleUrl, 'pennant_limiter_decided_alone_total'),
    countReEncodes: () => readMetric(consoleUrl, 'pennant_encoder_task_duration_seconds_count{task="refine"}'),
  };
}

/** A bare `node:http` server that sends this one response. */
export async function startBareServer(directory: string, answer: CapturedAnswer): Promise<BenchServer> {
  await mkdir(directory, { recursive: true });
  const headersPath = join(directory, 'headers.json');
  const bodyPath = join(directory, 'body');
  await writeFile(headersPath, JSON.stringify(answer.headers));
  await writeFile(bodyPath, answer.body);
  const child = spawnPinned(SERVER_CORE, process.execPath, [BARE_SERVER, headersPath, bodyPath]);
  const [port] = await waitForLine(child, /listening on (\d+)/);
  return serverOf('bare node:http', child, `http://127.0.0.1:${port}`);
}

const WRITTEN_BY_NGINX: ReadonlySet<string> = new Set(['content-type', 'content-length']);

/** nginx with this one response as a file. `undefined` if it is not installed. */
export async function startNginx(directory: string, answer: CapturedAnswer): Promise<BenchServer | undefined> {
  if (!(await isInstalled('nginx'))) return undefined;
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'body'), answer.body);
  const port = await findFreePort();
  const fields = answer.headers.filter(([name]) => !WRITTEN_BY_NGINX.has(name.toLowerCase()));
  const type = answer.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const configPath = join(directory, 'nginx.conf');
  await writeFile(
    configPath,
    `daemon off;
master_process off;
pid ${directory}/nginx.pid;
error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off;
  etag off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=16;
  default_type '${type}';
  client_body_temp_path ${directory};
  proxy_temp_path ${directory};
  fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory};
  scgi_temp_path ${directory};
  server {
    listen 127.0.0.1:${port};
    location / {
      root ${directory};
      try_files /body =404;
${fields.map(([name, value]) => `      add_header ${name} '${value}';`).join('\n')}
    }
  }
}
`,
  );
  const child = spawnPinned(SERVER_CORE, 'nginx', ['-c', configPath, '-e', 'stderr'], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilAnswered(url);
  return serverOf('nginx static', child, url);
}

function serverOf(name: string, child: ChildProcess, url: string): BenchServer {
  return { name, url, pid: child.pid as number, stop: () => stopProcess(child) };
}

async function waitUntilAnswered(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing answers at ${url}.`);
}

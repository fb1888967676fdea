import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readDocument } from '../helpers/documents.ts';
import { isInstalled } from '../helpers/installed.ts';

/* How docker-compose reads deploy/compose.yaml and deploy/compose-one.yaml. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPLE = 'UCPennantSample00000001A';

const run = promisify(execFile);
const readDeployed = (name: string) => readFile(join(ROOT, 'deploy', name), 'utf8');

/** The `.env` of docs/operating.md. */
function firstDaySettings(): string {
  const first = readDocument('docs/operating.md').blocks.find(({ language }) => language === 'ini');
  if (first === undefined) throw new Error('docs/operating.md shows no settings');
  return first.text;
}

/** The configuration that docker-compose resolves from a file, with an `.env` in the project's root. */
async function compose(project: string, file: string, ...options: string[]): Promise<Record<string, ComposedService>> {
  const { stdout } = await run('docker-compose', ['-f', join(project, 'deploy', file), ...options, 'config'], {
    env: { PATH: process.env.PATH },
  });
  return (parseYaml(stdout) as { services: Record<string, ComposedService> }).services;
}

/** Checks for restricted rights, resource limits and an image of a fixed version. */
const HARDENED = {
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  restart: 'unless-stopped',
  mem_limit: expect.stringMatching(/^\d+[mg]$/),
  pids_limit: expect.any(Number),
  logging: { options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
  image: expect.stringMatching(/^pennant$|:v?\d+\.\d+\.\d+$/),
};

interface ComposedService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly ports?: readonly string[];
}

describe.skipIf(!isInstalled('docker-compose', 'deploy/compose.yaml'))('compose.yaml for docker-compose', () => {
  let project: string;
  let services: Record<string, ComposedService>;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'pennant-compose-'));
    await cp(join(ROOT, 'deploy'), join(project, 'deploy'), { recursive: true });
    await writeFile(join(project, '.env'), `${firstDaySettings()}\nBLOCKED_CHANNELS=${SAMPLE}\n`);
    services = await compose(project, 'compose.yaml', '--profile', 'metrics');
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  test('every service has restricted rights, resource limits and an image of a fixed version', () => {
    expect(Object.keys(services).sort()).toEqual([
      'nginx',
      'pennant-1',
      'pennant-2',
      'pennant-3',
      'prometheus',
      'valkey',
    ]);
    for (const service of Object.values(services)) expect(service).toMatchObject(HARDENED);
  });

  test('every instance has the settings of .env, except those that the containers set', () => {
    for (const number of [1, 2, 3]) {
      expect(services[`pennant-${number}`]?.environment).toMatchObject({
        BASE_URL: 'https://img.example.org',
        BLOCKED_CHANNELS: SAMPLE,
        HOST: '0.0.0.0',
        DATA_DIR: '/data',
        TRUST_PROXY: '172.30.80.10/32',
        CONSOLE_HOST: `172.30.81.2${number}`,
      });
    }
  });

  test('nothing is published over IPv6, where all visitors would share one address', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published).toEqual(['0.0.0.0:80:80/tcp', '127.0.0.1:9090:9090/tcp']);
  });

  test('Prometheus is in the network of the private listeners, and scrapes each at its address there', async () => {
    const { scrape_configs } = parseYaml(await readDeployed('prometheus.yaml')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const listeners = [1, 2, 3].map((number) => {
      const { environment = {}, networks } = services[`pennant-${number}`] ?? {};
      expect(networks?.metrics?.ipv4_address).toBe(environment.CONSOLE_HOST);
      return `${environment.CONSOLE_HOST}:${environment.CONSOLE_PORT}`;
    });
    expect(scrape_configs[0]?.static_configs[0]?.targets).toEqual(listeners);
    expect(Object.keys(services.prometheus?.networks ?? {})).toContain('metrics');
    expect(Object.keys(services.nginx?.networks ?? {})).not.toContain('metrics');
  });

  test('compose-one.yaml has one instance with the same rights and limits, published on loopback only', async () => {
    const one = await compose(project, 'compose-one.yaml');
    expect(Object.keys(one)).toEqual(['pennant']);
    expect(one.pennant).toMatchObject({
      ...HARDENED,
      ports: ['127.0.0.1:8080:8080/tcp', '127.0.0.1:8081:8081/tcp'],
      environment: {
        BASE_URL: 'https://img.example.org',
        BLOCKED_CHANNELS: SAMPLE,
        HOST: '0.0.0.0',
        DATA_DIR: '/data',
        CONSOLE_HOST: '0.0.0.0',
      },
    });
    const { networks } = parseYaml(await readDeployed('compose-one.yaml')) as {
      networks: { outer: { ipam: { config: { gateway: string }[] } } };
    };
    expect(one.pennant?.environment?.TRUST_PROXY).toBe(`${networks.outer.ipam.config[0]?.gateway}/32`);
  });
});

describe('compose.yaml', () => {
  const composed = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8');

  test('defines the instances that nginx.conf names, and trusts nginx’s address', async () => {
    const nginx = await readDeployed('nginx.conf');
    const asked = [...nginx.matchAll(/server (\S+):8080/g)].map(([, name]) => name);
    expect(asked).toEqual([...composed.matchAll(/^ {2}(pennant-\d+):$/gm)].map(([, name]) => name).slice(0, 3));
    const nginxAddress = /nginx:[\s\S]*ipv4_address: ([\d.]+)/.exec(composed)?.[1];
    expect(composed).toContain(`TRUST_PROXY: ${nginxAddress}/32\n`);
  });
});

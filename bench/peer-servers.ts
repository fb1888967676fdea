import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from '../test/helpers/process.ts';
import type { LoadedServer } from './load.ts';
import { ON_SERVER_CORE, stopProcess } from './processes.ts';

/** A server that Pennant is compared with, in a process of its own. */
export interface PeerServer extends LoadedServer {
  stop(): Promise<void>;
}

/** A response as received. */
export interface PreparedResponse {
  /** Names and values in order, without the fields that Node adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const VERSIONS = { fastify: '5.12.8', '@fastify/rate-limit': '11.2.0', ipx: '3.1.1' };
const INSTALL_MS = 60_000;

/** Installs the compared packages into a directory, so that they are no dependencies of the project. */
export async function installPeers(directory: string, names: readonly (keyof typeof VERSIONS)[]): Promise<void> {
  const packages = names.map((name) => `${name}@${VERSIONS[name]}`);
  const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', ...packages];
  await promisify(execFile)('npm', args, { cwd: directory, timeout: INSTALL_MS });
}

/** Starts unjs/ipx for the images of a folder, in which it must be installed. It may use every core. */
export function startIpx(folder: string): Promise<PeerServer> {
  return startPeer([], ['ipx', folder]);
}

/**
 * Starts a server that sends this one response: bare `node:http`, or a plain Fastify application with `@fastify/rate-limit`, which
 * must be installed in the directory.
 */
export async function startPrepared(
  kind: 'bare' | 'fastify',
  directory: string,
  { headers, body }: PreparedResponse,
): Promise<PeerServer> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'headers.json'), JSON.stringify(headers));
  await writeFile(join(directory, 'body'), body);
  return startPeer(ON_SERVER_CORE, [kind, directory]);
}

async function startPeer(prefix: readonly string[], args: readonly string[]): Promise<PeerServer> {
  const program = fileURLToPath(new URL('peer-server.ts', import.meta.url));
  const [command = '', ...rest] = [...prefix, process.execPath, program, ...args];
  const server = startProcess(command, rest);
  const [, port] = await server.printed(/listening on (\d+)/);
  return { pid: server.child.pid as number, base: `http://127.0.0.1:${port}`, stop: () => stopProcess(server) };
}

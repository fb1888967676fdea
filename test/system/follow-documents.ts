import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Block, type Document, nameOf, readDocuments } from '../helpers/documents.ts';
import { findFreePort, type ServiceProcess, startProcess, startService } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { findDifference } from './shown-response.ts';

const RUN = new Set(['sh', 'html', 'ts', 'diff']);
const RESPONSES = new Set(['json', 'http', 'text']);

function isRun({ language, note }: Block): boolean {
  return RUN.has(language) && note?.kind !== 'not run' && note?.kind !== 'run elsewhere';
}

function changesProject({ blocks }: Document): boolean {
  return blocks.some((block) => isRun(block) && ['ts', 'diff'].includes(block.language));
}

/**
 * Runs every command of the documents as a reader would, and compares every example response. Those that change the
 * project take as long as all others.
 */
export function describeDocuments(which: 'change the project' | 'change nothing'): void {
  const changing = which === 'change the project';
  const documents = readDocuments().filter(
    (document) => document.blocks.some(isRun) && changesProject(document) === changing,
  );
  describe.each(documents)('$name', ({ blocks }: Document) => {
    let shell: Shell;
    beforeAll(async () => {
      const isServing = blocks.some((block) => isRun(block) && /localhost:808[01]/.test(block.text));
      shell = await openShell({ isServing, buildsFirst: changing });
    });
    afterAll(() => shell.close());
    let servingSection: string | undefined;

    for (const [index, block] of blocks.entries()) {
      if (!isRun(block)) continue;
      const next = blocks[index + 1];
      const response =
        next !== undefined && next.section === block.section && RESPONSES.has(next.language) ? next : undefined;
      test(nameOf(block), async () => {
        if (servingSection !== undefined && servingSection !== block.section) await shell.stopServing();
        servingSection = block.section;
        if (block.note?.kind === 'serves') return shell.serve(block.text);
        const given = await follow(block, shell);
        if (response !== undefined) expect(findDifference(response.language, response.text, given)).toBeUndefined();
      });
    }
  });
}

type Shell = Awaited<ReturnType<typeof openShell>>;

/** A port in the documents besides those of the service. */
const REPLAY_PORT = '8090';

/** Without the project's programs, which readers run through npm. */
const READERS_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

interface ShellOptions {
  /** Whether a service is wanted from the start. */
  readonly isServing: boolean;
  /** Whether npm builds before each command, as it does for readers. Nothing is out of date unless the reader changed it. */
  readonly buildsFirst: boolean;
}

/** A reader's shell: a fresh copy of the project, and a service that listens at the addresses the documents name. */
async function openShell({ isServing, buildsFirst }: ShellOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-documents-'));
  await copyProject(directory);
  const replayPort = String(await findFreePort());
  const service = isServing ? await startExampleService(directory) : undefined;
  const servicePorts = { PORT: `${service?.port ?? 0}`, CONSOLE_PORT: URL.parse(service?.inside ?? '')?.port ?? '0' };
  let served: (ReturnType<typeof start> & { readonly ports: typeof servicePorts }) | undefined;
  let clients = 0;

  /** The requests of each block come from a new client with a full budget. */
  async function writeCurlSettings({ PORT, CONSOLE_PORT }: typeof servicePorts): Promise<void> {
    clients += 1;
    const lines = ['localhost', '127.0.0.1'].flatMap((host) => [
      `connect-to = "${host}:8080:127.0.0.1:${PORT}"`,
      `connect-to = "${host}:8081:127.0.0.1:${CONSOLE_PORT}"`,
    ]);
    lines.push(`header = "X-Forwarded-For: 10.1.${clients >> 8}.${clients & 255}"`);
    await writeFile(join(directory, '.curlrc'), lines.join('\n'));
  }

  function start(commands: string, env: Record<string, string>) {
    const started = startProcess('bash', ['-eu', '-c', commands.replaceAll(REPLAY_PORT, replayPort)], {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: READERS_PATH,
        HOME: directory,
        CURL_HOME: directory,
        npm_config_update_notifier: 'false',
        // npm then runs the command, but nothing before it.
        npm_config_ignore_scripts: String(!buildsFirst),
        ...env,
      },
    });
    const signalAll = (signal: NodeJS.Signals) => {
      try {
        process.kill(-(started.child.pid as number), signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };
    return { ...started, signalAll };
  }

  /** Ends what `serve` has started, and expects a clean exit. */
  async function stopServing(): Promise<void> {
    if (served === undefined) return;
    const { signalAll, closed, output } = served;
    served = undefined;
    signalAll('SIGINT');
    await closed;
    if (!output().includes('stopping:')) throw new Error(`not in order:\n${output()}`);
  }

  return {
    directory,
    /** @throws Error with the complete output if a command fails */
    async run(commands: string): Promise<string> {
      const ports = served?.ports ?? servicePorts;
      await writeCurlSettings(ports);
      const { closed, stdout, output, signalAll } = start(commands, ports);
      onTestFinished(() => signalAll('SIGKILL'));
      const how = await closed;
      if (how !== 0) throw new Error(`ended with ${how}:\n${output()}`);
      return stdout();
    },
    /** Starts commands that keep running, and waits until a service listens. It replaces the earlier service. */
    async serve(commands: string): Promise<void> {
      const ports = { PORT: String(await findFreePort()), CONSOLE_PORT: String(await findFreePort()) };
      const env = { ...ports, DATA_DIR: join(directory, 'served'), TRUST_PROXY: '127.0.0.1/32' };
      served = { ...start(commands, env), ports };
      await served.printed(new RegExp(`:${ports.PORT}\\.`));
    },
    stopServing,
    async close() {
      await stopServing();
      service?.child.kill();
      await service?.ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts the service like `npm start`, on free ports and without internet access. */
async function startExampleService(directory: string): Promise<ServiceProcess> {
  const nobody = `http://127.0.0.1:${await findFreePort()}`;
  return startService({
    directory,
    env: {
      SOURCES: '',
      RATE_LIMIT_OVERRIDES: '',
      TRUST_PROXY: '127.0.0.1/32',
      YOUTUBE_ORIGIN: nobody,
    },
  });
}

/** Does what a reader would do with the block. Returns what the commands printed. */
async function follow({ language, text }: Block, shell: Shell): Promise<string> {
  switch (language) {
    case 'ts':
      await saveListing(shell.directory, text);
      return '';
    case 'diff':
      await makeChange(shell.directory, text);
      return '';
    case 'html':
      return shell.run(requestsOf(text));
    default:
      return shell.run(text);
  }
}

/** Returns one command for each image of a page. The command fails if the image is missing. */
function requestsOf(html: string): string {
  const urls = [...html.matchAll(/(?:src|srcset|href)="(http[^"]+)"/g)].map(([, url]) => url);
  return urls.map((url) => `curl -sSf -o /dev/null '${url}'`).join('\n');
}

/** Saves a listing at the path in its first line. */
async function saveListing(directory: string, listing: string): Promise<void> {
  const [first = '', ...rest] = listing.split('\n');
  const path = join(directory, first.replace(/^\/\/ /, ''));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${rest.join('\n')}\n`);
}

/**
 * Applies a change that a document shows as a unified diff. The hunks have no line numbers, which would become outdated:
 * the lines before the change must be in the file exactly once.
 *
 * @throws Error that names the missing lines
 */
async function makeChange(directory: string, diff: string): Promise<void> {
  for (const change of diff.split(/^--- .*\n\+\+\+ b\//m).slice(1)) {
    const [name = '', ...lines] = change.split('\n');
    const path = join(directory, name);
    let text = await readFile(path, 'utf8');
    for (const hunk of lines
      .join('\n')
      .split(/^@@.*\n/m)
      .slice(1)) {
      const [before, after] = [side(hunk, '-'), side(hunk, '+')];
      if (text.split(before).length !== 2) throw new Error(`${name} does not have this once:\n${before}`);
      text = text.replace(before, () => after);
    }
    await writeFile(path, text);
  }
}

function side(hunk: string, sign: '-' | '+'): string {
  const lines = hunk.trimEnd().split('\n');
  const shown = lines.filter((line) => line.startsWith(' ') || line.startsWith(sign) || line === '');
  return `${shown.map((line) => line.slice(1)).join('\n')}\n`;
}

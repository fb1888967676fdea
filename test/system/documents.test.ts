import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findRunningService } from '../../src/cli/serve/data-dir-lock.ts';
import { type Block, type Document, nameOf, readDocuments, textPattern } from '../helpers/documents.ts';
import { findFreePort, type ServiceProcess, startProcess, startService } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { WAIT } from '../helpers/wait.ts';

/*
 * Runs every command of the documents as a reader would, and compares every example response. A block that cannot be
 * run is marked in the text with the reason, and is listed here by name.
 */

const DOCUMENTS = readDocuments();
const RUN = new Set(['sh', 'html', 'ts', 'diff']);
const RESPONSES = new Set(['json', 'http', 'text']);

for (const block of DOCUMENTS.flatMap(({ blocks }) => blocks)) {
  if (block.note?.kind === 'not run') console.log(`skipped: ${nameOf(block)} (${block.note.reason})`);
}

function isRun({ language, note }: Block): boolean {
  return RUN.has(language) && note?.kind !== 'not run' && note?.kind !== 'run elsewhere';
}

describe.each(DOCUMENTS.filter(({ blocks }) => blocks.some(isRun)))('$name', ({ blocks }: Document) => {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell(blocks.some((block) => isRun(block) && /localhost:808[01]/.test(block.text)));
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

type Shell = Awaited<ReturnType<typeof openShell>>;

/** A port in the documents besides those of the service. */
const REPLAY_PORT = '8090';

/** Without the project's programs, which readers run through npm. */
const READERS_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

/**
 * A reader's shell: a fresh copy of the project, and a service that listens at the addresses the documents name.
 *
 * @param isServing whether a service is wanted from the start
 */
async function openShell(isServing: boolean) {
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
      env: { PATH: READERS_PATH, HOME: directory, CURL_HOME: directory, npm_config_update_notifier: 'false', ...env },
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

  const runningService = () => findRunningService(join(directory, 'served'));

  /** Ends what `serve` has started, and expects a clean exit. */
  async function stopServing(): Promise<void> {
    if (served === undefined) return;
    const { signalAll, closed, output } = served;
    served = undefined;
    // The service first: npm passes a terminal's Ctrl-C on, on a busy machine so late that it counts as a second signal.
    process.kill(runningService()?.pid as number, 'SIGINT');
    await vi.waitFor(() => expect(runningService()).toBeUndefined(), WAIT);
    signalAll('SIGINT');
    await closed;
    if (!/stopping:(?!.*stopped at once)/s.test(output())) throw new Error(`not in order:\n${output()}`);
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
      // The documents' --check compares this port with that of the running service.
      PORT: String(await findFreePort()),
      SOURCES: '',
      RATE_LIMIT_OVERRIDES: '',
      TRUST_PROXY: '127.0.0.1/32',
      YOUTUBE_ORIGIN: nobody,
      YOUTUBE_IMAGE_ORIGIN: nobody,
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

/** The first difference, or `undefined`. `…` in a text or a header field stands for anything on its line. */
function findDifference(language: string, shown: string, given: string): string | undefined {
  switch (language) {
    case 'json':
      return differenceOf(comparableJson(shown), comparableJson(given));
    case 'http':
      return findHeaderDifference(shown, given);
    default:
      return textPattern(shown).test(given.trim()) ? undefined : differenceOf(shown, given.trim());
  }
}

/** The order of fields counts, because the record defines one. These fields have new values in every response. */
const CHANGING_FIELDS: readonly string[] = ['requestId', 'cacheSeconds'];

function comparableJson(text: string): string {
  const comparable = (name: string, value: unknown) => (CHANGING_FIELDS.includes(name) ? typeof value : value);
  return JSON.stringify(JSON.parse(text), comparable, 1);
}

function differenceOf(shown: string, given: string): string | undefined {
  return shown === given ? undefined : `shown:\n${shown}\ngiven:\n${given}`;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  date: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'last-modified': /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'x-request-id': /^[\w-]+$/,
  'cache-status': /^pennant; (?:hit|fwd)/,
};

function findHeaderDifference(shown: string, given: string): string | undefined {
  const [shownStatus, ...shownFields] = shown.trim().split('\n');
  const [givenStatus, ...givenFields] = given.trim().split('\r\n');
  if (shownStatus !== givenStatus) return differenceOf(shown, given);
  const values = new Map(givenFields.map(readField));
  const wrong = shownFields.find((line) => {
    const [name, value] = readField(line);
    return !isSameField(name, value, values.get(name));
  });
  return wrong === undefined ? undefined : `shown: ${wrong}\ngiven:\n${given}`;
}

function readField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const MAX_AGE = /^public, max-age=(\d+)$/;
/** Time limit for the examples of one document. */
const SECONDS_PASSED = 120;

function isSameField(name: string, shown: string, given = ''): boolean {
  const form = FORMS[name];
  if (form !== undefined) return form.test(given);
  const [shownAge, givenAge] = [MAX_AGE.exec(shown)?.[1], MAX_AGE.exec(given)?.[1]].map(Number);
  if (name === 'cache-control' && Number.isInteger(shownAge) && Number.isInteger(givenAge)) {
    const passed = Number(shownAge) - Number(givenAge);
    return passed >= 0 && passed <= SECONDS_PASSED;
  }
  return textPattern(shown).test(given);
}

import { mkdtemp, rm } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import inject, { type DispatchFunc } from 'light-my-request';
import { pino } from 'pino';
import { buildApp } from '../src/app/build.ts';
import { parseConfig } from '../src/config/settings.ts';
import { fenced } from './docs-markdown.ts';

/** A request that the document shows with its response. */
export interface Example {
  readonly url: string;
  /** Only the header section is requested and shown. */
  readonly isHead?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ERROR_EXAMPLE: Example = { url: '/api/channel/pennantsample' };

const ORIGIN = 'http://localhost:8080';
/** The output must not depend on the current time. */
const STANDING_CLOCK = { now: () => Date.UTC(2026, 0, 1), monotonic: () => 1_000, after: () => () => undefined };
/** Fields that the document describes once for all responses, and fields that depend on the machine. */
const UNSHOWN = /^(?:access-control-|cross-origin-|timing-|x-|date|connection|keep-alive|content-length)/;

interface ExampleService {
  /** The document in the service's response. */
  openApi(): Promise<unknown>;
  /** The command and the response as Markdown. */
  show(example: Example): Promise<string>;
  close(): Promise<void>;
}

/** Starts the service in this process with the sample catalog. The examples are its responses. */
export async function startExampleService(version: string): Promise<ExampleService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-docs-'));
  const config = parseConfig({ SOURCES: 'catalog', ENCODERS: '1', DATA_DIR: dataDir });
  const app = await buildApp(config, { logger: pino({ level: 'silent' }), version, clock: STANDING_CLOCK });
  let clients = 0;

  function send({ url, isHead = false, headers = {} }: Example) {
    clients += 1;
    const method = isHead ? 'HEAD' : 'GET';
    const remoteAddress = `10.0.0.${clients}`;
    const dispatch: DispatchFunc = (request, response) => {
      // The library's socket has no timeouts.
      Object.assign(request.socket, { setTimeout: () => request.socket });
      app.http.server.emit('request', request, response);
    };
    return inject(dispatch, {
      method,
      url,
      remoteAddress,
      headers: { host: new URL(ORIGIN).host, ...headers },
    });
  }

  return {
    openApi: async () => (await send({ url: '/openapi.json' })).json(),
    async show(example) {
      const response = await send(example);
      // On a machine with little memory, the encoder may be killed. Its 503 is not an example.
      if (response.statusCode >= 500)
        throw new Error(`${example.url} returned ${response.statusCode}: ${response.payload}`);
      const shown = example.isHead ? fenced('http', headerSection(response)) : fenced('json', pretty(response.payload));
      return `${fenced('sh', commandOf(example))}\n\n${shown}`;
    },
    async close() {
      await app.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

function commandOf({ url, isHead = false, headers = {} }: Example): string {
  const fields = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}' `);
  return `curl ${isHead ? '-sI' : '-s'} ${fields.join('')}'${ORIGIN}${url}'`;
}

interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

function headerSection({ statusCode, headers }: Reply): string {
  const shown = Object.entries(headers).filter(([name]) => !UNSHOWN.test(name));
  // A validator changes with every byte of the body, and is of no use to readers.
  const lines = shown.map(([name, value]) => (name === 'etag' ? 'etag: "…"' : `${name}: ${value}`));
  return [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`, ...lines].join('\n');
}

/** Formatted for readers, with a fixed request ID, because that is new in every response. */
function pretty(json: string): string {
  const value = JSON.parse(json) as Record<string, unknown>;
  return JSON.stringify(value.requestId === undefined ? value : { ...value, requestId: 'q3T1xKZ0fUvB-7' }, null, 2);
}

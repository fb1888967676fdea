import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { createStub } from '../../test/helpers/fake-source.ts';
import { type LogLine, recordLog } from '../../test/helpers/log.ts';
import { findFreePort } from '../../test/helpers/process.ts';
import { AppError } from '../domain/errors.ts';
import { ConnectionError } from '../lib/http/http-client.ts';
import { createRuntime } from '../lib/runtime.ts';
import { createPauses, type Pauses } from './pauses.ts';
import { createReachability } from './reachability.ts';

const NEVER = new AbortController().signal;
const YOUTUBE = { name: 'youtube' };

let clock: ManualClock;
let pauses: Pauses;
let lines: readonly LogLine[];

beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 23, 14, 9));
  const log = recordLog();
  lines = log.lines;
  pauses = createPauses(createRuntime({ clock, logger: log.logger }));
});

const messages = () => lines.map(({ msg }) => msg);

async function failFiveTimes(name: string, error: AppError): Promise<void> {
  for (let key = 0; key < 5; key += 1) {
    const failing = pauses.of(name).run(`key ${key}`, () => Promise.reject(error), NEVER);
    await expect(failing).rejects.toBe(error);
  }
}

const noConnection = () => new ConnectionError('upstream_unavailable', 'The upstream could not be reached.');
const problemsOf = (source: string) => pauses.stateOf(source).problems.map(({ name }) => name);

describe('calls that an upstream limits separately', () => {
  it('have pauses of their own', () => {
    const operations = ['getChannel', 'resolve', 'search', 'findPublishedAt'] as const;
    const pausesFor = (name: string) => operations.map((operation) => pauses.ofCall({ name }, operation));
    expect(new Set(pausesFor('youtube')).size).toBe(4);
    // Lookups of the official API have the allowance of records.
    expect(new Set(pausesFor('youtube-data-api')).size).toBe(2);
  });

  it('leave the source ready when they are paused', () => {
    pauses.ofCall(YOUTUBE, 'search').refuse('status 429');
    expect(pauses.stateOf('youtube').state).toBe('ready');
    expect(problemsOf('youtube')).toEqual(['youtube searches']);
    expect(pauses.isExplained('youtube', 'search')).toBe(true);
    expect(pauses.isExplained('youtube', 'getChannel')).toBe(false);
    pauses.of('youtube').refuse('status 429');
    expect(pauses.stateOf('youtube').state).toBe('paused');
    expect(pauses.stateOf('image hosts')).toEqual({ state: 'ready', problems: [] });
  });

  it('are not reported separately while the source cannot be reached, and are ready again when it is', async () => {
    pauses.of('youtube').loseContact('connect ECONNREFUSED');
    await failFiveTimes('youtube searches', noConnection());
    expect(pauses.stateOf('youtube').state).toBe('unreachable');
    expect(problemsOf('youtube')).toEqual(['youtube']);
    expect(pauses.isExplained('youtube', 'resolve')).toBe(true);
    const [{ description } = { description: '' }] = pauses.stateOf('youtube').problems;
    expect(description).toMatch(/^YouTube cannot be reached since .*; without internet access set SOURCES=catalog$/);

    await pauses.of('youtube').run('trial', async () => 'found', NEVER);
    expect(pauses.stateOf('youtube')).toEqual({ state: 'ready', problems: [] });
    expect(messages()).toEqual([description, 'youtube is ready again']);
  });

  it('make the source unreachable if they are the only ones that were tried', async () => {
    await failFiveTimes('youtube names', noConnection());
    expect(pauses.stateOf('youtube').state).toBe('unreachable');
    expect(problemsOf('youtube')).toEqual(['youtube names']);
  });
});

describe('the log', () => {
  it('has the description of a state once when it begins, and a line when it ends', async () => {
    const pause = pauses.of('youtube feeds');
    pause.refuse('status 429');
    const [problem] = pauses.stateOf('youtube').problems;
    clock.advance(60_000);
    pause.refuse('status 429');
    clock.advance(120_000);
    await pause.run('trial', async () => 'found', NEVER);
    expect(messages()).toEqual([problem?.description, 'youtube feeds is ready again']);
  });

  it('names a new reason', async () => {
    pauses.of('youtube').loseContact('connect ECONNREFUSED');
    const error = new AppError('upstream_unavailable', 'The video site responded with an error.');
    await expect(pauses.of('youtube').run('trial', () => Promise.reject(error), NEVER)).rejects.toBe(error);
    expect(messages()).toEqual([
      expect.stringMatching(/^YouTube cannot be reached/),
      expect.stringMatching(/^YouTube fails every call/),
    ]);
  });
});

describe('reachability', () => {
  async function listen(port: number) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }

  it('is known before the first call, and again when a connection can be opened', async () => {
    const port = await findFreePort();
    const reachability = createReachability(
      [{ ...createStub({ name: 'youtube' }), origin: `http://127.0.0.1:${port}` }],
      pauses,
    );
    await reachability.check();
    expect(pauses.stateOf('youtube').state).toBe('unreachable');
    await reachability.checkUnreachable();
    expect(pauses.stateOf('youtube').state).toBe('unreachable');
    await listen(port);
    await reachability.checkUnreachable();
    expect(pauses.stateOf('youtube')).toEqual({ state: 'ready', problems: [] });
  });

  it('is not regained by a connection if connections succeeded before, while calls failed', async () => {
    const port = await findFreePort();
    await listen(port);
    const reachability = createReachability(
      [{ ...createStub({ name: 'youtube' }), origin: `http://127.0.0.1:${port}` }],
      pauses,
    );
    await reachability.check();
    await failFiveTimes('youtube', noConnection());
    await reachability.checkUnreachable();
    expect(pauses.stateOf('youtube').state).toBe('unreachable');
  });
});

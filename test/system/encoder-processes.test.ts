import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEncoder, type Encoder, type EncoderOptions } from '../../src/images/encoder/encoder.ts';
import { ENCODER_IDLE_MS, type ProcessEvent } from '../../src/images/encoder/slot.ts';
import { startForTest } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { cpuTicks } from '../helpers/process-state.ts';
import { WAIT } from '../helpers/wait.ts';

const DEADLINE_MS = 60_000;

let bytes: Buffer;
beforeAll(async () => {
  bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
});

let encoder: Encoder | undefined;
afterEach(() => encoder?.close());

function start(options: Partial<EncoderOptions> = {}) {
  const events: ProcessEvent[] = [];
  const started: number[] = [];
  const onEvent = (event: ProcessEvent) => {
    events.push(event);
    if (event.kind === 'started' && event.pid !== undefined) started.push(event.pid);
    options.onEvent?.(event);
  };
  // Deadlines pass only when the test moves the clock.
  const clock = createManualClock();
  const created = createEncoder({ processes: 1, deadlineMs: DEADLINE_MS, clock, ...options, onEvent });
  encoder = created;
  return {
    encoder: created,
    clock,
    started,
    endings: () => events.flatMap((event) => (event.kind === 'ended' ? [event.reason] : [])),
  };
}

/** A paused process stands for a codec that hangs: it has its task, and does not end it. */
const pause = (pid = 0) => process.kill(pid, 'SIGSTOP');

describe('an encoder process', () => {
  it('that dies with a job is replaced, and the job is repeated', async () => {
    const ready = Promise.withResolvers<void>();
    const { encoder, started, endings } = start({
      onEvent({ kind, pid }) {
        if (kind !== 'ready' || started.length > 1) return;
        pause(pid);
        ready.resolve();
      },
    });
    const jobs = [1, 2].map(() => encoder.inspect(async () => bytes));
    await ready.promise;
    await nextTurn();
    process.kill(started[0] ?? 0, 'SIGKILL');
    for (const job of jobs) expect(await job).toMatchObject({ width: 64 });
    expect(endings()).toEqual(['crash']);
    expect(started).toHaveLength(2);
  });

  it('that dies twice during the same job fails only that job', async () => {
    const isVictim = { now: true };
    const { encoder, endings } = start({
      onEvent: (event) => {
        if (event.kind === 'started' && event.pid !== undefined && isVictim.now) process.kill(event.pid, 'SIGKILL');
      },
    });
    await expect(encoder.inspect(async () => bytes)).rejects.toMatchObject({ code: 'overloaded' });
    isVictim.now = false;
    expect(endings().slice(0, 2)).toEqual(['crash', 'crash']);
    await vi.waitFor(async () => expect(await encoder.inspect(async () => bytes)).toMatchObject({ width: 64 }), WAIT);
  });

  it('is ended after two minutes without a task, and the next task starts another one', async () => {
    const { encoder, clock, started, endings } = start();
    encoder.warmUp();
    clock.advance(ENCODER_IDLE_MS - 1);
    await encoder.inspect(async () => bytes);
    clock.advance(ENCODER_IDLE_MS - 1);
    expect(encoder.stats().processes).toBe(1);
    clock.advance(1);
    expect(encoder.stats()).toMatchObject({ processes: 0, restarts: 0 });
    await expect.poll(endings).toEqual(['idle']);
    expect(await cpuTicks(started[0])).toBeUndefined();
    expect(await encoder.inspect(async () => bytes)).toMatchObject({ width: 64 });
    expect(started).toHaveLength(2);
  });

  it('ends when the server is killed while it encodes', async () => {
    const owner = fork(fileURLToPath(new URL('./encoder-owner.ts', import.meta.url)), { execArgv: [] });
    const [{ pid = 0 }] = (await once(owner, 'message')) as [ProcessEvent];
    onTestFinished(async () => {
      if ((await cpuTicks(pid)) !== undefined) process.kill(pid, 'SIGKILL');
    });
    // By then it is encoding and no longer starting.
    await vi.waitFor(async () => expect(await cpuTicks(pid)).toBeGreaterThan(60), { ...WAIT, interval: 20 });
    owner.kill('SIGKILL');
    await vi.waitFor(async () => expect(await cpuTicks(pid)).toBeUndefined(), { ...WAIT, interval: 20 });
  });
});

it('a codec that hangs is killed, and its image is refused for a minute, as upstream has not failed', async () => {
  const { encoder, clock, started, endings } = start();
  const hanging = Promise.withResolvers<void>();
  const encode: Encoder['encode'] = ({ readOriginal, ...job }, signal) => {
    async function readThenHang(): Promise<Buffer> {
      const original = await readOriginal();
      if (started.length === 1) pause(started[0]);
      hanging.resolve();
      return original;
    }
    return encoder.encode({ ...job, readOriginal: readThenHang }, signal);
  };
  const downloader = { download: async () => bytes };
  const service = await startForTest({ encoder: { ...encoder, encode }, sources: [numberedSource()], downloader });
  const url = `/${numberedChannelId(1)}/tv.avif`;
  const waiting = service.get(url);
  await hanging.promise;
  await nextTurn();
  clock.advance(DEADLINE_MS);
  const missed = await waiting;
  expect([missed.status, missed.headers['retry-after'], missed.json().code]).toEqual([503, '60', 'overloaded']);
  await expect.poll(endings).toEqual(['deadline']);
  expect(await cpuTicks(started[0])).toBeUndefined();

  // Another image of the same original is made, by a new process.
  expect((await service.get(`/${numberedChannelId(1)}/avatar.webp?width=10`)).status).toBe(200);
  expect(started).toHaveLength(2);
  expect(encoder.stats()).toMatchObject({ processes: 1, restarts: 1, running: 0 });
  service.clock.advance(50_000);
  const later = await service.get(url);
  expect([later.status, later.headers['retry-after']]).toEqual([503, '10']);
});

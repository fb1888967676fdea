import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../domain/errors.ts';
import { type BodyReader, createBodyReader, MAX_BYTES_ON_EVENT_LOOP } from './body-reader.ts';

const SHORT = new Uint8Array(MAX_BYTES_ON_EVENT_LOOP);
const LONG = new Uint8Array(MAX_BYTES_ON_EVENT_LOOP + 1);
const PATIENT = new AbortController().signal;

/** Each does what its name says. */
const readers = {
  whereItRuns: () => (process.getBuiltinModule('node:worker_threads').isMainThread ? 'event loop' : 'thread'),
  /** Never ends. Before that, it sends a message on the `BroadcastChannel` with its name. */
  hang: () => {
    new BroadcastChannel('hang').postMessage('begun');
    for (;;);
  },
  endThread: () => process.exit(1),
  fail: () => {
    throw new TypeError('a bug in a reader');
  },
};
/** The thread's module has only the text of the readers, so they use nothing else from this file. */
const MODULE = Object.entries(readers).map(([name, read]) => `export const ${name} = ${read};`);

let reader: BodyReader<typeof readers>;
beforeEach(() => {
  const module = new URL(`data:text/javascript,${encodeURIComponent(MODULE.join('\n'))}`);
  reader = createBodyReader(readers, module);
});
afterEach(() => reader.close());

/** Keeps the thread busy until the signal is aborted. Resolves when the thread has begun. */
async function hang(signal: AbortSignal): Promise<{ end: Promise<unknown> }> {
  const channel = new BroadcastChannel('hang');
  const begun = once(channel, 'message');
  const end = reader.read('hang', LONG, signal).catch((error: unknown) => error);
  await begun;
  channel.close();
  return { end };
}

describe('a body', () => {
  it('is read at once if it is short, otherwise in a thread', async () => {
    expect(await reader.read('whereItRuns', SHORT, PATIENT)).toBe('event loop');
    expect(await reader.read('whereItRuns', LONG, PATIENT)).toBe('thread');
  });

  it.each(['endThread', 'fail'] as const)(
    'that makes its reader %s is invalid, and the next body is read',
    async (name) => {
      await expect(reader.read(name, LONG, PATIENT)).rejects.toMatchObject({ code: 'upstream_invalid' });
      expect(await reader.read('whereItRuns', LONG, PATIENT)).toBe('thread');
    },
  );

  it('that makes its reader hang is abandoned when its signal is aborted, and the next body is read', async () => {
    const controller = new AbortController();
    const { end } = await hang(controller.signal);
    const waiting = reader.read('whereItRuns', LONG, PATIENT);
    controller.abort(new AppError('upstream_timeout', 'Too late.'));
    expect(await end).toMatchObject({ code: 'upstream_timeout', message: 'Too late.' });
    expect(await waiting).toBe('thread');
  });

  it('waits for the thread in a bounded queue', async () => {
    const controller = new AbortController();
    const { end } = await hang(controller.signal);
    const { maxEntries } = reader.stats();
    const waiting = Array.from({ length: maxEntries - 1 }, () => reader.read('whereItRuns', LONG, PATIENT));
    expect(reader.stats()).toMatchObject({ entries: maxEntries, bytes: expect.any(Number) });
    const refused = reader.read('whereItRuns', LONG, PATIENT);
    await expect(refused).rejects.toMatchObject({ code: 'upstream_unavailable' });
    controller.abort();
    await end;
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'thread'));
    expect(reader.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  it('rejects if the reader is closed meanwhile', async () => {
    const { end } = await hang(PATIENT);
    await reader.close();
    expect(await end).toMatchObject({ code: 'upstream_invalid' });
  });
});

import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

const SAMPLE = 'UCPennantSample00000001A';
const MIB = 2 ** 20;
/** More than the kernel's buffers of a connection can hold. */
const LARGE_BYTES = 16 * MIB;
/** The deadline of a large image, in ms. */
const LARGE_MS = 60_000 + (LARGE_BYTES / 16_384) * 1_000;
const SECOND_MS = 1_000;
const MAX_BYTES = 64 * MIB;
const RECORD = get(`/api/channel/${SAMPLE}`);

const large = (width: number) => get(`/${SAMPLE}/tv.png?width=${width}`);

function get(path: string, fields = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
}

/** A service whose every image has `bytes`, and its port. */
async function start(bytes = LARGE_BYTES, env: Record<string, string> = {}) {
  const service = await startForTest({
    encoder: createFakeEncoder({ encode: async () => Buffer.alloc(bytes) }),
    env: { IMAGE_CACHE_BYTES: '1GiB', ...env },
  });
  return { service, port: await service.listen() };
}

/** A client that sends these requests on one connection, and reads only when it is told to. */
function openReader(port: number, requests: string) {
  const socket = connect(port, '127.0.0.1').pause();
  const state = { received: 0, isClosed: false };
  let wanted = 0;
  let reached = Promise.withResolvers<void>();
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      state.received += chunk.length;
      if (state.received < wanted) return;
      socket.pause();
      reached.resolve();
    })
    .on('close', () => {
      state.isClosed = true;
      reached.resolve();
    });
  onTestFinished(() => void socket.destroy());
  socket.write(requests);
  return {
    state,
    destroy: () => socket.destroy(),
    /** Reads until it has this many bytes in all, or the connection is closed. */
    async readUpTo(bytes: number): Promise<void> {
      if (state.received >= bytes || state.isClosed) return;
      wanted = bytes;
      reached = Promise.withResolvers();
      socket.resume();
      await reached.promise;
    },
  };
}

const held = async (service: TestApp, figure: string) =>
  (await service.metric(`pennant_unread_responses_${figure}`)) ?? 0;
const untilHeld = (service: TestApp, entries: number) => expect.poll(() => held(service, 'entries')).toBe(entries);

describe('a response whose reader is slow', () => {
  test.each([
    ['nothing', 0],
    ['a few bytes now and then', 2_000],
  ])('is closed at its deadline if it reads %s', async (_what, bytesEach) => {
    const { service, port } = await start();
    const reader = openReader(port, large(1));
    await untilHeld(service, 1);
    const spans = 10;
    for (let span = 1; span <= spans; span += 1) {
      await reader.readUpTo(span * bytesEach);
      service.clock.advance((LARGE_MS - SECOND_MS) / spans);
    }
    await untilHeld(service, 1);
    service.clock.advance(2 * SECOND_MS);
    await reader.readUpTo(LARGE_BYTES);
    expect(reader.state.isClosed).toBe(true);
    expect(reader.state.received).toBeLessThan(LARGE_BYTES);
    expect(await held(service, 'bytes')).toBe(0);
  });

  it('is whole if it reads 16 KiB each second', async () => {
    const { service, port } = await start();
    const reader = openReader(port, large(1));
    await untilHeld(service, 1);
    const parts = 20;
    for (let part = 1; part <= parts; part += 1) {
      service.clock.advance((LARGE_MS - 60_000) / parts);
      await reader.readUpTo((part * LARGE_BYTES) / parts);
    }
    await reader.readUpTo(LARGE_BYTES + 1);
    await untilHeld(service, 0);
    expect(reader.state.received).toBeGreaterThan(LARGE_BYTES);
  });
});

describe('the memory of responses that wait for their readers', () => {
  it('is bounded: the response that has been under way for the longest time is closed first', async () => {
    const { service, port } = await start();
    const readers = [];
    for (let number = 1; number <= 3; number += 1) {
      readers.push(openReader(port, large(number)));
      await untilHeld(service, number);
    }
    const last = openReader(port, large(4));
    readers.push(last);
    await last.readUpTo(1);
    expect(await held(service, 'entries')).toBe(3);
    expect(await held(service, 'bytes')).toBeLessThanOrEqual(MAX_BYTES);
    for (const reader of readers) await reader.readUpTo(LARGE_BYTES + 1);
    expect(readers.map(({ state }) => state.received > LARGE_BYTES)).toEqual([false, true, true, true]);
  });

  it('is bounded: the network whose responses keep most loses one, also if another one has waited longer', async () => {
    const { service, port } = await start(LARGE_BYTES, { TRUST_PROXY: '127.0.0.1/32' });
    const readers = [];
    for (const [number, client] of ['192.0.2.1', '198.51.100.1', '198.51.100.1'].entries()) {
      readers.push(openReader(port, get(`/${SAMPLE}/tv.png?width=${number + 1}`, `X-Forwarded-For: ${client}\r\n`)));
      await untilHeld(service, number + 1);
    }
    const last = openReader(port, get(`/${SAMPLE}/tv.png?width=4`, 'X-Forwarded-For: 203.0.113.1\r\n'));
    readers.push(last);
    await last.readUpTo(1);
    expect(await held(service, 'entries')).toBe(3);
    for (const reader of readers) await reader.readUpTo(LARGE_BYTES + 1);
    expect(readers.map(({ state }) => state.received > LARGE_BYTES)).toEqual([true, false, true, true]);
  });

  it('does not prevent an image that is larger than the bound, if nothing else waits', async () => {
    const { port } = await start(MAX_BYTES + MIB);
    const reader = openReader(port, large(1));
    await reader.readUpTo(MAX_BYTES);
    await reader.readUpTo(MAX_BYTES + MIB + 1);
    expect(reader.state.received).toBeGreaterThan(MAX_BYTES + MIB);
  });

  it('is free after a client has disconnected', async () => {
    const { service, port } = await start();
    const reader = openReader(port, large(1) + large(2) + RECORD);
    await untilHeld(service, 3);
    reader.destroy();
    await untilHeld(service, 0);
    expect(await held(service, 'bytes')).toBe(0);
  });
});

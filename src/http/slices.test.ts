import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createConnection, createSliceReader, SLICE_BYTES } from './slices.ts';

test('the slices of all connections are read in the order in which they wait', async () => {
  const reader = createSliceReader();
  const order: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    const socket = new Readable({ read: () => undefined });
    reader.read(socket as Socket, createConnection(false), () => undefined);
    socket.on('data', () => order.push(name));
    socket.push(Buffer.alloc(2 * SLICE_BYTES));
  }
  while (order.length < 6) await nextTurn();
  expect(order).toEqual(['first', 'second', 'third', 'first', 'second', 'third']);
});

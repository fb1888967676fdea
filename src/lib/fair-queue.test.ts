import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

let clock: ManualClock;
beforeEach(() => {
  clock = createManualClock();
});

const createQueue = (maxLength = 10) => createFairQueue<string>({ maxLength, clock });

/** Adds items of cost 1 that begin with their client's letter. */
function fill(queue: FairQueue<string>, items: string): void {
  for (const item of items.split(' ')) expect(queue.add(item.charAt(0), item, 1)).toEqual({ isAdded: true });
}

function takeAll(queue: FairQueue<string>): string {
  return Array.from({ length: queue.size }, () => queue.next()).join(' ');
}

describe('the fair queue', () => {
  it('lets clients take turns, each in its own order', () => {
    const queue = createQueue();
    fill(queue, 'a1 a2 a3 b1 c1 c2');
    expect(takeAll(queue)).toBe('a1 b1 c1 a2 c2 a3');
    expect(queue.next()).toBeUndefined();
  });

  it('puts a returning client behind the clients that wait', () => {
    const queue = createQueue();
    fill(queue, 'a1 b1');
    expect(queue.next()).toBe('a1');
    fill(queue, 'a2');
    expect(takeAll(queue)).toBe('b1 a2');
  });

  it('lets a client with cheap items come before one with expensive items, and as often as they cost together', () => {
    const queue = createQueue();
    queue.add('a', 'a1', 3);
    queue.add('a', 'a2', 3);
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']) queue.add('b', item, 1);
    expect(takeAll(queue)).toBe('b1 b2 a1 b3 b4 b5 a2 b6');
  });

  it('corrects the expected cost by the real one', () => {
    const queue = createQueue();
    fill(queue, 'a1 b1 a2 b2');
    expect([queue.next(), queue.next()]).toEqual(['a1', 'b1']);
    queue.charge('a', 5);
    expect(takeAll(queue)).toBe('b2 a2');
  });

  it('forgets within minutes what a client has used', () => {
    const queue = createQueue();
    queue.charge('a', 100);
    queue.charge('b', 50);
    clock.advance(60_000);
    queue.charge('b', 10);
    fill(queue, 'a1 b1');
    expect(queue.next()).toBe('b1');
    clock.advance(600_000);
    queue.charge('b', 1);
    fill(queue, 'b2');
    expect(takeAll(queue)).toBe('a1 b2');
  });

  it('remembers a bounded number of clients', () => {
    const queue = createQueue();
    for (let client = 0; client < 6_000; client += 1) queue.charge(`client ${client}`, 1);
    expect(queue.clients()).toEqual({ entries: 5_000, maxEntries: 5_000 });
  });

  it('has room again for each item that is taken or removed', () => {
    const queue = createQueue(2);
    fill(queue, 'a1 a2');
    queue.remove('a1');
    queue.remove('other');
    fill(queue, 'b1');
    queue.next();
    fill(queue, 'b2');
    expect(queue.size).toBe(2);
    expect(queue.drain()).toEqual(['b1', 'b2']);
    expect(queue.size).toBe(0);
  });
});

describe('a full fair queue', () => {
  it('displaces the newest item of the client that asks for most', () => {
    const queue = createQueue(5);
    fill(queue, 'a1 a2 b1 b2 b3');
    expect(queue.add('c', 'c1', 1)).toEqual({ isAdded: true, displaced: 'b3' });
    expect(takeAll(queue)).toBe('a1 b1 c1 a2 b2');
  });

  it('displaces the item of a client that has used more, also if it asks for as little', () => {
    const queue = createQueue(2);
    queue.charge('a', 5);
    fill(queue, 'a1 b1');
    expect(queue.add('c', 'c1', 1)).toEqual({ isAdded: true, displaced: 'a1' });
  });

  it('displaces an expensive item for a cheap one, and not the other way', () => {
    const queue = createQueue(2);
    queue.add('a', 'a1', 50);
    queue.add('b', 'b1', 1);
    expect(queue.add('c', 'c1', 51)).toEqual({ isAdded: false });
    expect(queue.add('d', 'd1', 2)).toEqual({ isAdded: true, displaced: 'a1' });
  });

  it('displaces nothing for a client that would then have used and asked as much', () => {
    const queue = createQueue(3);
    fill(queue, 'a1 b1 c1');
    expect(queue.add('d', 'd1', 1)).toEqual({ isAdded: false });
    expect(queue.add('a', 'a2', 1)).toEqual({ isAdded: false });
    expect(takeAll(queue)).toBe('a1 b1 c1');
  });

  it('shares its places evenly, in any order of arrival', () => {
    const queue = createQueue(9);
    fill(queue, 'a1 a2 a3 a4 a5 a6 a7 a8 a9');
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5', 'c1', 'c2', 'c3', 'c4']) queue.add(item.charAt(0), item, 1);
    expect(queue.drain().sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  });
});

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';
import type { ClientKeys } from './work.ts';

let clock: ManualClock;
beforeEach(() => {
  clock = createManualClock();
});

const createQueue = (maxLength = 10) => createFairQueue<string>({ maxLength, clock });

/** Adds items of cost 1: `a1` for the only client of a network, `n/a1` for a client in network `n`. */
function fill(queue: FairQueue<string>, items: string): void {
  for (const item of items.split(' ')) expect(queue.add(ownerOf(item), item, 1)).toEqual({ isAdded: true });
}

/** The item's name without its number. */
const ownerOf = (item: string) => clientOf(item.replace(/\d+$/, ''));

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
    queue.add(clientOf('a'), 'a1', 3);
    queue.add(clientOf('a'), 'a2', 3);
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']) queue.add(clientOf('b'), item, 1);
    expect(takeAll(queue)).toBe('b1 b2 a1 b3 b4 b5 a2 b6');
  });

  it('corrects the expected cost by the real one', () => {
    const queue = createQueue();
    fill(queue, 'a1 b1 a2 b2');
    expect([queue.next(), queue.next()]).toEqual(['a1', 'b1']);
    queue.charge(clientOf('a'), 5);
    expect(takeAll(queue)).toBe('b2 a2');
  });

  it('forgets within minutes what a client has used', () => {
    const queue = createQueue();
    queue.charge(clientOf('a'), 100);
    queue.charge(clientOf('b'), 50);
    clock.advance(60_000);
    queue.charge(clientOf('b'), 10);
    fill(queue, 'a1 b1');
    expect(queue.next()).toBe('b1');
    clock.advance(600_000);
    queue.charge(clientOf('b'), 1);
    fill(queue, 'b2');
    expect(takeAll(queue)).toBe('a1 b2');
  });

  it('remembers a bounded number of clients', () => {
    const queue = createQueue();
    for (let client = 0; client < 6_000; client += 1) queue.charge(clientOf(`client ${client}`), 1);
    expect(queue.clients()).toEqual({ entries: 10_000, maxEntries: 10_000 });
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
    expect(queue.add(clientOf('c'), 'c1', 1)).toEqual({ isAdded: true, displaced: 'b3' });
    expect(takeAll(queue)).toBe('a1 b1 c1 a2 b2');
  });

  it('displaces the item of a client that has used more, also if it asks for as little', () => {
    const queue = createQueue(2);
    queue.charge(clientOf('a'), 5);
    fill(queue, 'a1 b1');
    expect(queue.add(clientOf('c'), 'c1', 1)).toEqual({ isAdded: true, displaced: 'a1' });
  });

  it('displaces an expensive item for a cheap one, and never a cheap item for an expensive one', () => {
    const queue = createQueue(2);
    queue.add(clientOf('a'), 'a1', 50);
    queue.add(clientOf('b'), 'b1', 1);
    expect(queue.add(clientOf('c'), 'c1', 51)).toEqual({ isAdded: false });
    expect(queue.add(clientOf('d'), 'd1', 2)).toEqual({ isAdded: true, displaced: 'a1' });
  });

  it('displaces nothing for a client that would then have used and asked as much', () => {
    const queue = createQueue(3);
    fill(queue, 'a1 b1 c1');
    expect(queue.add(clientOf('d'), 'd1', 1)).toEqual({ isAdded: false });
    expect(queue.add(clientOf('a'), 'a2', 1)).toEqual({ isAdded: false });
    expect(takeAll(queue)).toBe('a1 b1 c1');
  });

  it('shares its places evenly, in any order of arrival', () => {
    const queue = createQueue(9);
    fill(queue, 'a1 a2 a3 a4 a5 a6 a7 a8 a9');
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5', 'c1', 'c2', 'c3', 'c4'])
      queue.add(clientOf(item.charAt(0)), item, 1);
    expect(queue.drain().sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  });
});

describe('the fair queue with networks', () => {
  it('lets networks take turns, and in a network its clients', () => {
    const queue = createQueue();
    fill(queue, 'n/a1 n/a2 n/b1 n/c1 m/a1 m/a2 z1');
    expect(takeAll(queue)).toBe('n/a1 m/a1 z1 n/b1 m/a2 n/c1 n/a2');
  });

  it('puts new clients of a network that has used much behind other networks', () => {
    const queue = createQueue();
    for (let client = 0; client < 250; client += 1) queue.charge(clientOf(`n/${client}`), 1);
    fill(queue, 'n/new1 z1 z2');
    expect(takeAll(queue)).toBe('z1 z2 n/new1');
  });

  it('leaves the items that may not be taken', () => {
    const queue = createQueue();
    fill(queue, 'n/a1 n/b1 z1');
    const mayTake = ({ network }: ClientKeys) => network !== 'n';
    expect(queue.hasNext(mayTake)).toBe(true);
    expect([queue.next(mayTake), queue.next(mayTake)]).toEqual(['z1', undefined]);
    expect([queue.hasNext(mayTake), queue.hasNext(), queue.size]).toEqual([false, true, 2]);
    expect(takeAll(queue)).toBe('n/a1 n/b1');
  });

  it('displaces an item of the network that asks for most, of the client in it that does', () => {
    const queue = createQueue(6);
    fill(queue, 'z1 z2 n/a1 n/b1 n/b2 n/c1');
    expect(queue.add(clientOf('y'), 'y1', 1)).toEqual({ isAdded: true, displaced: 'n/b2' });
    expect(takeAll(queue)).toBe('z1 n/a1 y1 z2 n/b1 n/c1');
  });

  it('displaces nothing of others for one more client of the network that asks for most', () => {
    const queue = createQueue(4);
    fill(queue, 'n/a1 n/b1 n/c1 z1');
    expect(queue.add(clientOf('n/d'), 'n/d1', 1)).toEqual({ isAdded: false });
  });

  it('displaces an item of a client in the same network that has used and asks for more', () => {
    const queue = createQueue(4);
    fill(queue, 'n/a1 n/a2 n/a3 z1');
    expect(queue.add(clientOf('n/b'), 'n/b1', 1)).toEqual({ isAdded: true, displaced: 'n/a3' });
    expect(takeAll(queue)).toBe('n/a1 z1 n/b1 n/a2');
  });

  const requests = fc.array(fc.record({ client: fc.nat(300), cost: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 400,
  });

  it('serves a newcomer next, and never refuses it, whatever the clients of one network do', () => {
    fc.assert(
      fc.property(requests, fc.nat(60), (asked, taken) => {
        const queue = createFairQueue<string>({ maxLength: 20, clock });
        for (const { client, cost } of asked) queue.add(clientOf(`n/${client}`), 'theirs', cost);
        // The newcomer's item costs as much as the most expensive of theirs.
        queue.charge(clientOf('n/0'), 9);
        for (let count = 0; count < taken; count += 1) queue.next();
        expect(queue.add(clientOf('newcomer'), 'mine', 9).isAdded).toBe(true);
        expect(queue.next()).toBe('mine');
      }),
    );
  });

  it('shares evenly among networks, however many clients each of them has', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 5 }), (clientsOf) => {
        const queue = createFairQueue<string>({ maxLength: 1_000, clock: createManualClock() });
        for (const [network, clients] of clientsOf.entries()) {
          for (let item = 0; item < 24; item += 1) {
            queue.add(clientOf(`${network}/${item % clients}`), `${network}`, 1);
          }
        }
        const taken = Array.from({ length: 12 * clientsOf.length }, () => queue.next());
        for (const network of clientsOf.keys()) expect(taken.filter((each) => each === `${network}`)).toHaveLength(12);
      }),
    );
  });
});

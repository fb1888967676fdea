import { describe, expect, it } from 'vitest';
import { createFairQueue, type FairQueue } from './queue.ts';

function createQueue(maxLength: number, isDisplaceable: (item: string) => boolean = () => true) {
  return createFairQueue<string>(maxLength, isDisplaceable);
}

/** Adds items that begin with their client's letter. */
function fill(queue: FairQueue<string>, items: string): void {
  for (const item of items.split(' ')) expect(queue.add(item.charAt(0), item)).toEqual({ isAdded: true });
}

describe('the fair queue', () => {
  it('lets clients take turns, each in its own order', () => {
    const queue = createQueue(10);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(item.charAt(0), item);
    expect(queue.drain()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('puts a returning client behind the clients that wait', () => {
    const queue = createQueue(10);
    queue.add('a', 'a1');
    queue.add('b', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('a', 'a2');
    expect(queue.drain()).toEqual(['b1', 'a2']);
  });

  it('is bounded', () => {
    const queue = createQueue(2);
    fill(queue, 'a1 b1');
    expect(queue.add('c', 'c1')).toEqual({ isAdded: false });
    expect(queue.size).toBe(2);
    expect(queue.drain()).toEqual(['a1', 'b1']);
  });

  it('has room again for each item that is taken or removed', () => {
    const queue = createQueue(2);
    queue.add('a', 'a1');
    queue.add('a', 'a2');
    queue.remove('a', 'a1');
    expect(queue.add('b', 'b1').isAdded).toBe(true);
    queue.next();
    expect(queue.add('b', 'b2').isAdded).toBe(true);
    expect(queue.size).toBe(2);
  });

  it('ignores the removal of an item that does not wait', () => {
    const queue = createQueue(2);
    queue.add('a', 'a1');
    queue.remove('a', 'other');
    queue.remove('b', 'a1');
    expect(queue.size).toBe(1);
  });
});

describe('a full fair queue', () => {
  it('makes room for a new client by displacing the newest item of the client with the most items', () => {
    const queue = createQueue(5);
    fill(queue, 'a1 a2 b1 b2 b3');
    expect(queue.add('c', 'c1')).toEqual({ isAdded: true, displaced: 'b3' });
    expect(queue.size).toBe(5);
    expect(queue.drain()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
  });

  it('displaces nothing if the new client would then have as many items as the other', () => {
    const queue = createQueue(4);
    fill(queue, 'a1 a2 b1 c1');
    expect(queue.add('b', 'b2')).toEqual({ isAdded: false });
    expect(queue.add('d', 'd1')).toEqual({ isAdded: true, displaced: 'a2' });
  });

  it('displaces nothing if every client has one item', () => {
    const queue = createQueue(3);
    fill(queue, 'a1 b1 c1');
    expect(queue.add('d', 'd1')).toEqual({ isAdded: false });
    expect(queue.drain()).toEqual(['a1', 'b1', 'c1']);
  });

  it('shares its places evenly, in any order of arrival', () => {
    const queue = createQueue(9);
    fill(queue, 'a1 a2 a3 a4 a5 a6 a7 a8 a9');
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5', 'c1', 'c2', 'c3', 'c4']) queue.add(item.charAt(0), item);
    expect(queue.drain().sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  });

  it('keeps items that may not be displaced', () => {
    const queue = createQueue(5, (item) => !['a3', 'b2'].includes(item));
    fill(queue, 'a1 a2 a3 b1 b2');
    expect(queue.add('c', 'c1')).toEqual({ isAdded: true, displaced: 'a2' });
    expect(queue.add('d', 'd1')).toEqual({ isAdded: true, displaced: 'a1' });
    expect(queue.add('e', 'e1')).toEqual({ isAdded: true, displaced: 'b1' });
    expect(queue.add('f', 'f1')).toEqual({ isAdded: false });
  });
});

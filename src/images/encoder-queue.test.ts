import { describe, expect, it } from 'vitest';
import { createFairQueue } from './encoder-queue.ts';

describe('the fair queue', () => {
  it('lets clients take turns, each in its own order', () => {
    const queue = createFairQueue<string>(10);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(item.charAt(0), item);
    expect(queue.drain()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('puts a client that comes again after those who already wait', () => {
    const queue = createFairQueue<string>(10);
    queue.add('a', 'a1');
    queue.add('b', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('a', 'a2');
    expect(queue.drain()).toEqual(['b1', 'a2']);
  });

  it('keeps nothing beyond its length', () => {
    const queue = createFairQueue<string>(2);
    expect([queue.add('a', 'a1'), queue.add('b', 'b1'), queue.add('c', 'c1')]).toEqual([true, true, false]);
    expect(queue.size).toBe(2);
    expect(queue.drain()).toEqual(['a1', 'b1']);
  });

  it('has room again for each item that is taken or removed', () => {
    const queue = createFairQueue<string>(2);
    queue.add('a', 'a1');
    queue.add('a', 'a2');
    queue.remove('a', 'a1');
    expect(queue.add('b', 'b1')).toBe(true);
    queue.next();
    expect(queue.add('b', 'b2')).toBe(true);
    expect(queue.size).toBe(2);
  });

  it('does nothing when asked to remove what does not wait', () => {
    const queue = createFairQueue<string>(2);
    queue.add('a', 'a1');
    queue.remove('a', 'other');
    queue.remove('b', 'a1');
    expect(queue.size).toBe(1);
  });

  it('gives out first what is put back, full or not', () => {
    const queue = createFairQueue<string>(1);
    queue.add('a', 'a1');
    queue.putBack('b1');
    expect(queue.size).toBe(2);
    expect(queue.drain()).toEqual(['b1', 'a1']);
    expect(queue.size).toBe(0);
  });
});

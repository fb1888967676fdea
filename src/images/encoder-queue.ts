/**
 * A bounded queue that is fair by client: clients take turns, each with its own work in order, so that one who asks for
 * a hundred pictures delays another's single one by one turn.
 */
export interface FairQueue<T> {
  readonly size: number;
  /** False, and nothing kept, when the queue is full. */
  add(client: string, item: T): boolean;
  /** Takes an item back that was already out; it goes next, and the bound does not apply. */
  putBack(item: T): void;
  next(): T | undefined;
  /** Does nothing when the item is not waiting any more. */
  remove(client: string, item: T): void;
  /** Empties the queue. */
  drain(): T[];
}

export function createFairQueue<T>(maxLength: number): FairQueue<T> {
  const returned: T[] = [];
  // A client's place in the map is its place in the round: one whose turn is over is inserted again at the end.
  const waiting = new Map<string, T[]>();
  let size = 0;

  function next(): T | undefined {
    const again = returned.shift();
    if (again !== undefined) {
      size -= 1;
      return again;
    }
    const first = waiting.entries().next();
    if (first.done === true) return undefined;
    const [client, items] = first.value;
    const [item, ...rest] = items;
    waiting.delete(client);
    if (rest.length > 0) waiting.set(client, rest);
    size -= 1;
    return item;
  }

  return {
    get size() {
      return size;
    },
    add(client, item) {
      if (size >= maxLength) return false;
      const items = waiting.get(client);
      if (items === undefined) waiting.set(client, [item]);
      else items.push(item);
      size += 1;
      return true;
    },
    putBack(item) {
      returned.push(item);
      size += 1;
    },
    next,
    remove(client, item) {
      const items = waiting.get(client) ?? [];
      const left = items.filter((other) => other !== item);
      size -= items.length - left.length;
      if (left.length > 0) waiting.set(client, left);
      else waiting.delete(client);
    },
    drain() {
      const items: T[] = [];
      for (let item = next(); item !== undefined; item = next()) items.push(item);
      return items;
    },
  };
}

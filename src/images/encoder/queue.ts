export type FairQueue<T> = ReturnType<typeof createFairQueue<T>>;

/**
 * A bounded queue that is fair by client: clients take turns, and each client's items stay in order. A client with a
 * hundred items delays another client's single item by one turn. A full queue makes room for a new client by displacing an
 * item of the client with the most items, if `isDisplaceable` returns true for it.
 */
export function createFairQueue<T>(maxLength: number, isDisplaceable: (item: T) => boolean) {
  // The order of the map is the order of turns. After its turn a client is inserted again at the end.
  const waiting = new Map<string, T[]>();
  let size = 0;

  function next(): T | undefined {
    const [first] = waiting;
    if (first === undefined) return undefined;
    const [client, [item, ...rest]] = first;
    waiting.delete(client);
    if (rest.length > 0) waiting.set(client, rest);
    size -= 1;
    return item;
  }

  /** Does nothing if the item is not in the queue. */
  function remove(client: string, item: T): void {
    const items = waiting.get(client) ?? [];
    const left = items.filter((other) => other !== item);
    size -= items.length - left.length;
    if (left.length > 0) waiting.set(client, left);
    else waiting.delete(client);
  }

  function displaceFor(newcomer: string): T | undefined {
    const ownCount = waiting.get(newcomer)?.length ?? 0;
    const holders = [...waiting]
      .filter(([, items]) => items.length >= ownCount + 2)
      .sort(([, one], [, other]) => other.length - one.length);
    for (const [client, items] of holders) {
      const displaced = items.findLast(isDisplaceable);
      if (displaced === undefined) continue;
      remove(client, displaced);
      return displaced;
    }
    return undefined;
  }

  return {
    get size() {
      return size;
    },
    /**
     * Adds the item. In a full queue it displaces the newest item of the client with the most items, if that client has
     * at least two more than this one. So clients with one item each do not displace each other.
     *
     * @returns `isAdded`: false if the queue is full and no item may be displaced
     */
    add(client: string, item: T): { readonly isAdded: boolean; readonly displaced?: T | undefined } {
      const displaced = size >= maxLength ? displaceFor(client) : undefined;
      if (size >= maxLength) return { isAdded: false };
      const items = waiting.get(client);
      if (items === undefined) waiting.set(client, [item]);
      else items.push(item);
      size += 1;
      return { isAdded: true, displaced };
    },
    next,
    remove,
    /** Empties the queue. */
    drain(): T[] {
      const items: T[] = [];
      for (let item = next(); item !== undefined; item = next()) items.push(item);
      return items;
    },
  };
}

/** Of all clients, in a turn of the event loop. Node accepts one connection in each turn, so that turns must be short. */
const SLICES_PER_TURN = 16;

/** The order in which connections give the HTTP parser a slice: clients take turns, however many connections they have. */
export interface ParserTurns {
  /** Calls `read` when the client has its turn. */
  wait(client: string, read: () => void): void;
}

export function createParserTurns(): ParserTurns {
  /** By client. The one whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  let isPlanned = false;

  /** The first read of the client whose turn it is. With others left, the client goes to the end. */
  function takeNext(): (() => void) | undefined {
    const [first] = waiting;
    if (first === undefined) return undefined;
    const [client, reads] = first;
    waiting.delete(client);
    const read = reads.shift();
    if (reads.length > 0) waiting.set(client, reads);
    return read;
  }

  function takeTurns(): void {
    isPlanned = false;
    for (let slices = 0; slices < SLICES_PER_TURN; slices += 1) takeNext()?.();
    plan();
  }

  function plan(): void {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    setImmediate(takeTurns);
  }

  return {
    wait(client, read) {
      const reads = waiting.get(client);
      if (reads === undefined) waiting.set(client, [read]);
      else reads.push(read);
      plan();
    },
  };
}

import type { HolderStats } from './holders.ts';

/** Who waits for what: requests that share one piece of work. */
export interface WaitingClients {
  /** Runs the work; meanwhile the client counts as waiting for the key. */
  during<T>(key: string, client: string, work: () => Promise<T>): Promise<T>;
  /** Whether any other client than this one waits for the key. */
  hasOther(key: string, client: string): boolean;
  stats(): HolderStats;
}

/** It holds one entry for each key, no more than there are requests under way. */
export function createWaitingClients(): WaitingClients {
  const waiting = new Map<string, string[]>();

  function leave(key: string, client: string): void {
    const clients = waiting.get(key) ?? [];
    clients.splice(clients.indexOf(client), 1);
    if (clients.length === 0) waiting.delete(key);
  }

  return {
    async during(key, client, work) {
      const clients = waiting.get(key);
      if (clients === undefined) waiting.set(key, [client]);
      else clients.push(client);
      try {
        return await work();
      } finally {
        leave(key, client);
      }
    },
    hasOther: (key, client) => waiting.get(key)?.some((other) => other !== client) === true,
    stats: () => ({ entries: waiting.size }),
  };
}

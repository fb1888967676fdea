import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { NEVER_ABORTED } from './deadlines.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';
import type { ClientKeys } from './work.ts';

const MAX_WAIT_MS = 2_000;

interface Call {
  readonly client: ClientKeys;
  readonly name: string;
}

let clock: ManualClock;
let queue: RoundRobin<Call>;
/** The calls that failed, with the code of their error. */
let failed: string[];

function start(): void {
  clock = createManualClock();
  failed = [];
  const refusal = () => new AppError('overloaded', 'No turn.');
  queue = createRoundRobin({ maxWaitMs: MAX_WAIT_MS, clock, refusal });
}

beforeEach(start);

/** Calls: `a1` of the only client of a network, `n/a1` of a client in network `n`. */
function call(names: string, { signal = NEVER_ABORTED, maxLength = 10 } = {}): void {
  for (const name of names.split(' ')) {
    const item = { client: clientOf(name.replace(/\d+$/, '')), name };
    queue.wait(item, signal, maxLength).catch((error: AppError) => failed.push(`${name} ${error.code}`));
  }
}

async function takeAll(isWanted?: (call: Call) => boolean): Promise<string> {
  const taken: string[] = [];
  // The last one waits for a call that does not come.
  for (let left = queue.size; left >= 0; left -= 1) {
    void queue.take(isWanted).then(({ name }) => taken.push(name));
    await nextTurn();
  }
  return taken.join(' ');
}

describe('the round robin', () => {
  it('gives networks their turns, and in a network its clients, each in its own order', async () => {
    call('n/a1 n/a2 n/b1 n/c1 m/a1 m/a2 z1');
    expect(await takeAll()).toBe('n/a1 m/a1 z1 n/b1 m/a2 n/c1 n/a2');
  });

  it('leaves what a taker does not want, and gives a new call to the last taker that wants it', async () => {
    const given: string[] = [];
    const take = (taker: string, names: RegExp) =>
      queue.take(({ name }) => names.test(name)).then(({ name }) => given.push(`${taker} ${name}`));
    call('a1 b1 a2');
    expect(await takeAll(({ name }) => name.startsWith('b'))).toBe('b1');
    void take('first', /^[cz]/);
    void take('second', /^c/);
    call('c1 z1 c2');
    await nextTurn();
    expect(given.sort()).toEqual(['first z1', 'second c1']);
    expect(await takeAll()).toBe('a1 c2 a2');
  });

  it('moves a network to the end again when its turn ends', async () => {
    call('n/a1 m/a1');
    const { client } = await queue.take();
    call('n/b1 z1');
    queue.endTurn(client);
    expect(await takeAll()).toBe('m/a1 z1 n/b1');
  });

  it('refuses a call that waits too long, and drops one that is aborted', async () => {
    const leaving = new AbortController();
    call('a1 a2');
    call('b1', { signal: leaving.signal });
    leaving.abort();
    call('c1', { signal: AbortSignal.abort() });
    clock.advance(MAX_WAIT_MS - 1);
    expect(await queue.take()).toMatchObject({ name: 'a1' });
    clock.advance(1);
    await nextTurn();
    expect(failed.sort()).toEqual(['a2 overloaded', 'b1 upstream_timeout', 'c1 upstream_timeout']);
    expect(queue.size).toBe(0);
  });

  it('lets no network have two turns while another one waits, whatever arrives and ends', async () => {
    const client = fc.constantFrom('n/a', 'n/b', 'm/a', 'm/b', 'z');
    const event = fc.record({ what: fc.constantFrom('call', 'call', 'take', 'end'), client });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 80 }), async (events) => {
        start();
        /** For each waiting call, the networks that had a turn since its own network last had one. */
        const turns = new Map<Call, string[]>();
        const restart = (network: string) => {
          for (const other of turns.keys()) if (other.client.network === network) turns.set(other, []);
        };
        for (const { what, client } of events) {
          const call = { client: clientOf(client), name: client };
          if (what === 'end') {
            queue.endTurn(call.client);
            restart(call.client.network);
          } else if (what === 'call') {
            const sibling = turns.keys().find((other) => other.client.network === call.client.network);
            turns.set(call, [...((sibling && turns.get(sibling)) ?? [])]);
            void queue.wait(call, NEVER_ABORTED, 100);
          } else if (turns.size > 0) {
            const taken = await queue.take();
            turns.delete(taken);
            restart(taken.client.network);
            for (const others of turns.values()) others.push(taken.client.network);
          }
          for (const others of turns.values()) expect(new Set(others).size).toBe(others.length);
        }
      }),
    );
  });
});

describe('a full round robin', () => {
  it.each([
    ['the client with the most calls', 'a1 a2 b1 b2 b3', 'c1', 'b3'],
    ['the network with the most calls, and in it the client with the most', 'z1 z2 n/a1 n/b1 n/b2', 'y1', 'n/b2'],
    ['a client that then has as many as any other', 'a1 b1 c1 d1 e1', 'f1', 'f1'],
    ['a network that then has as many as any other', 'n/a1 n/b1 m/a1 m/b1 m/c1', 'n/c1', 'n/c1'],
  ])('refuses the newest call of %s', async (_who, waiting, newcomer, refused) => {
    call(waiting);
    call(newcomer, { maxLength: 5 });
    await nextTurn();
    expect(failed).toEqual([`${refused} overloaded`]);
    expect(queue.size).toBe(5);
  });
});

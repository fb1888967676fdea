import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { NEVER_ABORTED } from './deadlines.ts';
import { createRoundRobin, type RoundRobin, type Taken } from './round-robin.ts';

const MAX_WAIT_MS = 2_000;

const clientOfCall = (name: string) => clientOf(name.replace(/\d+$/, ''));
const networkOf = (name: string) => clientOfCall(name).network;

let clock: ManualClock;
/** Of calls, by name. */
let queue: RoundRobin<string, void>;
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
    queue
      .submit(clientOfCall(name), name, signal, maxLength)
      .catch((error: AppError) => failed.push(`${name} ${error.code}`));
  }
}

async function takeAll(isWanted?: (name: string) => boolean): Promise<string> {
  const taken: string[] = [];
  // The last one waits for a call that does not come.
  for (let left = queue.size; left >= 0; left -= 1) {
    void queue.take(isWanted).then(({ work }) => taken.push(work));
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
      queue.take((name) => names.test(name)).then(({ work }) => given.push(`${taker} ${work}`));
    call('a1 b1 a2');
    expect(await takeAll((name) => name.startsWith('b'))).toBe('b1');
    void take('first', /^[cz]/);
    void take('second', /^c/);
    call('c1 z1 c2');
    await nextTurn();
    expect(given.sort()).toEqual(['first z1', 'second c1']);
    expect(await takeAll()).toBe('a1 c2 a2');
  });

  it('moves a network to the end again when its turn ends', async () => {
    call('n/a1 m/a1');
    const { settle } = await queue.take();
    call('n/b1 z1');
    await settle(Promise.resolve());
    expect(await takeAll()).toBe('m/a1 z1 n/b1');
  });

  it('refuses a call that waits too long, and drops one that is aborted', async () => {
    const leaving = new AbortController();
    call('a1 a2');
    call('b1', { signal: leaving.signal });
    leaving.abort();
    call('c1', { signal: AbortSignal.abort() });
    clock.advance(MAX_WAIT_MS - 1);
    expect(await queue.take()).toMatchObject({ work: 'a1' });
    clock.advance(1);
    await nextTurn();
    expect(failed.sort()).toEqual(['a2 overloaded', 'b1 upstream_timeout', 'c1 upstream_timeout']);
    expect(queue.size).toBe(0);
  });

  it('lets no network have two turns while another one waits, whatever arrives and ends', async () => {
    const name = fc.constantFrom('n/a1', 'n/b1', 'm/a1', 'm/b1', 'z1');
    const event = fc.record({ what: fc.constantFrom('call', 'call', 'take', 'end'), name });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 80 }), async (events) => {
        start();
        const waiting: string[] = [];
        const running: Taken<string, void>[] = [];
        /** For each network that waits, the networks that had a turn since it last had one itself. */
        const turns = new Map<string, string[]>();
        const restart = (name: string) => {
          if (turns.has(networkOf(name))) turns.set(networkOf(name), []);
        };
        for (const { what, name } of events) {
          const ended = what === 'end' ? running.shift() : undefined;
          if (ended !== undefined) {
            await ended.settle(Promise.resolve());
            restart(ended.work);
          } else if (what === 'call') {
            call(name, { maxLength: 100 });
            waiting.push(name);
            turns.set(networkOf(name), turns.get(networkOf(name)) ?? []);
          } else if (what === 'take' && waiting.length > 0) {
            const taken = await queue.take();
            running.push(taken);
            waiting.splice(waiting.indexOf(taken.work), 1);
            if (!waiting.some((name) => networkOf(name) === networkOf(taken.work))) turns.delete(networkOf(taken.work));
            restart(taken.work);
            for (const others of turns.values()) others.push(networkOf(taken.work));
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

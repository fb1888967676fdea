import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';

const MAX_WAIT_MS = 2_000;

let clock: ManualClock;
/** Turns that a caller may have at once. */
let free: number;
/** The calls that had their turn, in order, and those that failed with the code of their error. */
let served: string[];
let failed: string[];
let queue: RoundRobin;

beforeEach(() => {
  clock = createManualClock();
  free = 0;
  served = [];
  failed = [];
  queue = createQueue(10);
});

function createQueue(maxLength: number): RoundRobin {
  const giveTurns = () => {
    while (free > 0 && queue.next() !== undefined) free -= 1;
  };
  const refusal = () => new AppError('overloaded', 'No turn.');
  return createRoundRobin({ maxLength, maxWaitMs: MAX_WAIT_MS, clock, giveTurns, refusal });
}

/** Calls: `a1` of the only client of a network, `n/a1` of a client in network `n`. */
function call(names: string, signal = new AbortController().signal): void {
  for (const name of names.split(' ')) {
    queue.wait(clientOf(name.replace(/\d+$/, '')), signal).then(
      () => served.push(name),
      (error: AppError) => failed.push(`${name} ${error.code}`),
    );
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function serveAll(mayStart?: (network: string) => boolean): Promise<string> {
  while (queue.next(mayStart) !== undefined);
  await settled();
  return served.join(' ');
}

describe('the round robin', () => {
  it('gives networks their turns, and in a network its clients, each in its own order', async () => {
    call('n/a1 n/a2 n/b1 n/c1 m/a1 m/a2 z1');
    expect(await serveAll()).toBe('n/a1 m/a1 z1 n/b1 m/a2 n/c1 n/a2');
    expect(queue.next()).toBeUndefined();
  });

  it('gives a free turn at once, also if it is full', async () => {
    queue = createQueue(1);
    call('a1');
    free = 1;
    call('b1');
    await settled();
    expect([served, failed, queue.size]).toEqual([['a1'], [], 1]);
  });

  it('refuses a call that waits too long, and drops one that is aborted', async () => {
    const leaving = new AbortController();
    call('a1 a2');
    call('b1', leaving.signal);
    leaving.abort();
    call('c1', AbortSignal.abort());
    clock.advance(MAX_WAIT_MS - 1);
    expect(queue.next()).toEqual(clientOf('a'));
    clock.advance(1);
    await settled();
    expect(served).toEqual(['a1']);
    expect(failed.sort()).toEqual(['a2 overloaded', 'b1 upstream_timeout', 'c1 upstream_timeout']);
    expect(queue.size).toBe(0);
  });
});

describe('a full round robin', () => {
  it.each([
    ['the client with the most calls', 'a1 a2 b1 b2 b3', 'c1', 'b3'],
    ['the network with the most calls, and in it the client with the most', 'z1 z2 n/a1 n/b1 n/b2', 'y1', 'n/b2'],
    ['a client that then has as many as any other', 'a1 b1 c1 d1 e1', 'f1', 'f1'],
    ['a network that then has as many as any other', 'n/a1 n/b1 m/a1 m/b1 m/c1', 'n/c1', 'n/c1'],
  ])('refuses the newest call of %s', async (_who, waiting, newcomer, refused) => {
    queue = createQueue(5);
    call(waiting);
    call(newcomer);
    await settled();
    expect(failed).toEqual([`${refused} overloaded`]);
    expect(queue.size).toBe(5);
  });

  it('serves a newcomer second at the latest, whatever the clients of one network do', async () => {
    const clients = fc.array(fc.nat(300), { minLength: 1, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(clients, fc.nat(60), async (asked, taken) => {
        queue = createQueue(20);
        served = [];
        call(asked.map((client) => `n/x${client}y1`).join(' '));
        for (let count = 0; count < taken; count += 1) queue.next();
        await settled();
        served = [];
        call('newcomer1');
        queue.next();
        queue.next();
        await settled();
        expect(served).toContain('newcomer1');
      }),
    );
  });
});

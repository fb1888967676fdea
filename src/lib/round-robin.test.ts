import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { NEVER_ABORTED } from './deadlines.ts';
import { createRoundRobin } from './round-robin.ts';

const MAX_WAIT_MS = 2_000;

const clientOfCall = (name: string) => clientOf(name.replace(/\d+(?:@.*)?$/, ''));
const networkOf = (name: string) => clientOfCall(name).network;

let clock: ManualClock;
let turns: ReturnType<typeof createRoundRobin<string>>;
/** The calls that run, and what ends them. */
let running: Map<string, () => void>;
/** The calls that failed, with the code of their error. */
let failed: string[];

function start(...places: string[]): void {
  clock = createManualClock();
  running = new Map();
  failed = [];
  const refusal = () => new AppError('overloaded', 'No turn.');
  turns = createRoundRobin({ places, maxWaitMs: MAX_WAIT_MS, clock, refusal });
}

/** In each test, the only place is taken. */
beforeEach(async () => {
  start('only');
  await call('busy');
});

/** Calls: `a1` of the only client of a network, `n/a1` of a client in network `n`. A call in a named place is `a1@place`. */
async function call(names: string, { signal = NEVER_ABORTED, maxWaiting = 10, places = /./ } = {}): Promise<void> {
  for (const name of names.split(' ')) {
    const work = { client: clientOfCall(name), signal, maxWaiting, suits: (place: string) => places.test(place) };
    turns
      .run(work, (place) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        running.set(place === 'only' ? name : `${name}@${place}`, resolve);
        return promise;
      })
      .catch((error: AppError) => failed.push(`${name} ${error.code}`));
  }
  await nextTurn();
}

async function end(name: string): Promise<void> {
  running.get(name)?.();
  running.delete(name);
  await nextTurn();
}

/** Ends one call after the other. @returns those that begin meanwhile, in their order */
async function endAll(): Promise<string> {
  const begun: string[] = [];
  for (let [name] = running.keys(); name !== undefined; [name] = running.keys()) {
    await end(name);
    begun.push(...running.keys());
  }
  return begun.join(' ');
}

describe('the round robin', () => {
  it('gives networks their turns, and in a network its clients, each in its own order', async () => {
    await call('n/a1 n/a2 n/b1 n/c1 m/a1 m/a2 z1');
    expect([turns.waiting(), turns.running()]).toEqual([7, 1]);
    expect(await endAll()).toBe('n/a1 m/a1 z1 n/b1 m/a2 n/c1 n/a2');
    expect([turns.waiting(), turns.running()]).toEqual([0, 0]);
  });

  it('leaves a place that a call does not want to the next one, and gives the place that became free last', async () => {
    start('first', 'second', 'third');
    await call('a1 a2', { places: /first/ });
    await call('b1 b2 b3');
    expect([...running.keys()]).toEqual(['a1@first', 'b1@third', 'b2@second']);
    await end('b2@second');
    await end('b1@third');
    await end('b3@second');
    await call('c1');
    expect([...running.keys()]).toEqual(['a1@first', 'c1@second']);
    await end('a1@first');
    expect([...running.keys()]).toEqual(['c1@second', 'a2@first']);
  });

  it('moves a network to the end again when its turn ends', async () => {
    await call('n/a1 m/a1');
    await end('busy');
    await call('n/b1 z1');
    expect(await endAll()).toBe('m/a1 z1 n/b1');
  });

  it('refuses a call that waits too long, and drops one that is aborted', async () => {
    const leaving = new AbortController();
    await call('a1 a2');
    await call('b1', { signal: leaving.signal });
    leaving.abort();
    await call('c1', { signal: AbortSignal.abort() });
    clock.advance(MAX_WAIT_MS - 1);
    await end('busy');
    expect([...running.keys()]).toEqual(['a1']);
    clock.advance(1);
    await nextTurn();
    expect(failed.sort()).toEqual(['a2 overloaded', 'b1 upstream_timeout', 'c1 upstream_timeout']);
    expect(turns.waiting()).toBe(0);
  });

  it('lets no network have two turns while another one waits, whatever arrives and ends', async () => {
    const name = fc.constantFrom('n/a1', 'n/b1', 'm/a1', 'm/b1', 'z1');
    const event = fc.record({ isCall: fc.boolean(), name, at: fc.nat(1) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 30, maxLength: 80 }), async (events) => {
        start('first', 'second');
        /** For each network that waits, the networks that had a turn since it last had one itself. */
        const others = new Map<string, string[]>();
        const waiting: string[] = [];
        for (const [index, { isCall, name, at }] of events.entries()) {
          const before = new Set(running.keys());
          const ended = isCall ? undefined : [...before][at];
          if (ended !== undefined) {
            if (others.has(networkOf(ended))) others.set(networkOf(ended), []);
            await end(ended);
          } else if (isCall) {
            const called = name.replace(/\d/, `${index + 10}`);
            waiting.push(called);
            others.set(networkOf(called), others.get(networkOf(called)) ?? []);
            await call(called, { maxWaiting: 100 });
          }
          for (const begun of [...running.keys()].filter((name) => !before.has(name))) {
            const [call = ''] = begun.split('@');
            waiting.splice(waiting.indexOf(call), 1);
            const network = networkOf(call);
            if (waiting.some((name) => networkOf(name) === network)) others.set(network, []);
            else others.delete(network);
            for (const [other, had] of others) if (other !== network) had.push(network);
          }
          for (const had of others.values()) expect(new Set(had).size).toBe(had.length);
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
    await call(waiting);
    await call(newcomer, { maxWaiting: 5 });
    expect(failed).toEqual([`${refused} overloaded`]);
    expect(turns.waiting()).toBe(5);
  });
});

import { describe, expect, it } from 'vitest';

/*
 * A model of two instances on one Redis, with one channel (docs/adr/0011-epochs.md). `explore` tries every order of their
 * steps, and finds an old value that is kept after a purge. Each weakened protocol must be found out.
 */

/** A value that was read from the source before the purge is old. */
type Value = 'none' | 'old' | 'new';

interface Instance {
  /** The number of the epoch. */
  epoch: number;
  memory: Value;
  file: Value;
  /** The last erasure that it knows. */
  position: number;
  /** Running writes of the file. */
  writes: number;
  isErasing: boolean;
  /** A purge at this instance has ended. */
  hasPurged: boolean;
}

/** Work that runs step by step. Its own values are what an `async` function would hold. */
interface Job {
  readonly kind: keyof typeof JOBS;
  readonly at: 0 | 1;
  step: number;
  epoch: number;
  position: number;
  value: Value;
  isDone: boolean;
}

interface State {
  readonly instances: [Instance, Instance];
  readonly jobs: Job[];
  source: Value;
  /** The last erasure in Redis, and the first that it still has. */
  last: number;
  first: number;
  stored: Value;
}

const WEAKNESSES = [
  'the epoch does not end before an erasure',
  'the epoch does not end after an erasure',
  'the store is used during an erasure',
  'a store of an unknown position is accepted',
  'a received erasure does not end the epoch',
  'files are erased while they are written',
  'lost erasures are not noticed',
] as const;

type Weakness = (typeof WEAKNESSES)[number] | undefined;

function endEpoch(instance: Instance): void {
  instance.epoch += 1;
  instance.memory = 'none';
}

function canErase(instance: Instance, weakness: Weakness): boolean {
  return instance.writes === 0 || weakness === 'files are erased while they are written';
}

type Step = (state: State, job: Job, here: Instance, weakness: Weakness) => boolean | undefined;

const begin: Step = (_state, job, here) => {
  job.epoch = here.epoch;
};

/** The work ends here if the store has the value. */
const readStore: Step = (state, job, here, weakness) => {
  const isUsable = !here.isErasing || weakness === 'the store is used during an erasure';
  job.value = isUsable ? state.stored : 'none';
};

/** In one turn of the event loop: keeps the value in memory, and sends it to Redis with the position. */
const keep: Step = (_state, job, here, weakness) => {
  if (job.epoch !== here.epoch) job.value = 'none';
  if (job.value !== 'none') here.memory = job.value;
  if (here.isErasing && weakness !== 'the store is used during an erasure') job.value = 'none';
  job.position = here.position;
};

const store: Step = (state, job, _here, weakness) => {
  const isKnown = job.position === state.last || weakness === 'a store of an unknown position is accepted';
  if (job.value !== 'none' && isKnown) state.stored = job.value;
};

const loadFromSource: Step = (state, job) => {
  if (job.value === 'none') job.value = state.source;
};

const beginFile: Step = (_state, job, here) => {
  if (job.epoch === here.epoch) here.writes += 1;
  else job.value = 'none';
};

const endFile: Step = (_state, job, here) => {
  if (job.value === 'none') return;
  here.writes -= 1;
  here.file = job.value;
};

/** Waits (`false`) for running writes. */
const eraseFiles: Step = (_state, job, here, weakness) => {
  if (job.value === 'none') return;
  if (!canErase(here, weakness)) return false;
  here.file = 'none';
};

const endErasure: Step = (_state, job, here, weakness) => {
  if (job.value !== 'none' && weakness !== 'the epoch does not end after an erasure') endEpoch(here);
};

/** The steps of each kind of work. A step that returns `false` cannot run yet. */
const JOBS = {
  load: [begin, readStore, loadFromSource, keep, store],
  /** Like adding the next page to a stored search. */
  change: [begin, readStore, keep, store],
  download: [begin, loadFromSource, beginFile, endFile],
  readFile: [
    begin,
    ((_state, job, here) => {
      job.value = here.file;
    }) as Step,
    ((_state, job, here) => {
      if (job.value !== 'none' && job.epoch === here.epoch) here.memory = job.value;
    }) as Step,
  ],
  purge: [
    ((state, job, here, weakness) => {
      state.source = 'new';
      job.value = 'new';
      here.isErasing = true;
      if (weakness !== 'the epoch does not end before an erasure') endEpoch(here);
    }) as Step,
    ((state, job) => {
      job.position = state.last;
      state.last += 1;
      state.stored = 'none';
    }) as Step,
    ((state, job, here) => {
      if (job.position === here.position) here.position = state.last;
      here.isErasing = false;
    }) as Step,
    eraseFiles,
    ((state, job, here, weakness) => {
      endErasure(state, job, here, weakness);
      here.hasPurged = true;
    }) as Step,
  ],
  receive: [
    ((state, job, here, weakness) => {
      const isLost = here.position < state.first && weakness === 'lost erasures are not noticed';
      if (isLost) here.position = state.last;
      job.value = here.position === state.last ? 'none' : 'new';
      job.position = state.last;
    }) as Step,
    ((_state, job, here, weakness) => {
      if (job.value === 'none') return;
      here.position = job.position;
      if (weakness !== 'a received erasure does not end the epoch') endEpoch(here);
    }) as Step,
    eraseFiles,
    endErasure,
  ],
  /** Redis loses its data. The first instance that notices begins a new list. */
  lose: [
    ((state) => {
      state.last += 1;
      state.first = state.last;
      state.stored = 'none';
    }) as Step,
  ],
} as const satisfies Record<string, readonly Step[]>;

/** What an instance or Redis keeps although it is old. */
function findOld({ instances, stored, jobs }: State): string | undefined {
  const isSettled = jobs.every(({ isDone }) => isDone);
  if (stored === 'old' && instances.some(({ hasPurged }) => hasPurged)) return 'Redis';
  for (const [number, { memory, file, hasPurged }] of instances.entries()) {
    if (!hasPurged && !isSettled) continue;
    if (memory === 'old') return `memory of instance ${number}`;
    if (file === 'old') return `files of instance ${number}`;
  }
  return undefined;
}

function copyOf({ instances: [first, second], jobs, ...state }: State): State {
  return { ...state, instances: [{ ...first }, { ...second }], jobs: jobs.map((job) => ({ ...job })) };
}

type Work = readonly [kind: keyof typeof JOBS, at: 0 | 1, after?: number];

/** Tries all orders of the jobs' steps. A job begins when the job with the number `after` has ended. */
function explore(work: readonly Work[], weakness?: Weakness): { states: number; old: string | undefined } {
  const instance = {
    epoch: 0,
    memory: 'old',
    file: 'old',
    position: 0,
    writes: 0,
    isErasing: false,
    hasPurged: false,
  } as const;
  const start: State = {
    instances: [{ ...instance }, { ...instance }],
    jobs: work.map(([kind, at]) => ({ kind, at, step: 0, epoch: 0, position: 0, value: 'none', isDone: false })),
    source: 'old',
    last: 0,
    first: 0,
    stored: 'old',
  };
  const seen = new Set<string>();
  const waiting = [start];
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    for (const [number, { isDone }] of state.jobs.entries()) {
      const after = work[number]?.[2];
      if (isDone || (after !== undefined && state.jobs[after]?.isDone !== true)) continue;
      const next = copyOf(state);
      const job = next.jobs[number] as Job;
      const steps: readonly Step[] = JOBS[job.kind];
      if (steps[job.step]?.(next, job, next.instances[job.at], weakness) === false) continue;
      job.step += 1;
      job.isDone = job.step === steps.length;
      const text = JSON.stringify(next);
      if (seen.has(text)) continue;
      seen.add(text);
      const old = findOld(next);
      if (old !== undefined) return { states: seen.size, old };
      waiting.push(next);
    }
  }
  return { states: seen.size, old: undefined };
}

/** A purge at the first instance, which the second one reads after it, and work of each kind beside both. */
const PURGE: readonly Work[] = [
  ['purge', 0],
  ['receive', 1, 0],
];
const SCENARIOS: Readonly<Record<string, readonly Work[]>> = {
  'loads at both': [...PURGE, ['load', 0], ['load', 1]],
  'loads at the other, which also reads before': [...PURGE, ['load', 1], ['receive', 1]],
  'a change of a stored value at each': [...PURGE, ['change', 0], ['change', 1]],
  'a load and a change at the purged instance': [...PURGE, ['load', 0], ['change', 0]],
  'a download and a look-up of a file': [...PURGE, ['download', 0], ['readFile', 0]],
  'the same at the other instance': [...PURGE, ['download', 1], ['readFile', 1]],
  'a Redis that loses its data after the purge': [
    ['purge', 0],
    ['lose', 0, 0],
    ['receive', 1, 1],
    ['load', 1],
  ],
  'two purges': [...PURGE, ['purge', 1], ['receive', 0, 2], ['change', 0]],
};

describe('the protocol of epochs', () => {
  it.each(Object.entries(SCENARIOS))('keeps nothing old with %s', (_what, work) => {
    const { states, old } = explore(work);
    expect(old).toBeUndefined();
    expect(states).toBeGreaterThan(50);
  });

  it.each(WEAKNESSES)('keeps something old if %s', (weakness) => {
    expect(Object.values(SCENARIOS).some((work) => explore(work, weakness).old !== undefined)).toBe(true);
  });
});

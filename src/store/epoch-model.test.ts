import { describe, expect, it } from 'vitest';

/*
 * A model of two instances on one store, with one channel (docs/adr/0012-yours-is-read-fetched-is-kept.md). `explore` tries
 * every order of their steps, with outages, restarts and a store that loses its data or goes back to an earlier state. It finds
 * old values that are kept after a purge. In each weakened protocol it must find one.
 */

/** A value that was read from the source before the purge is old. */
type Value = 'none' | 'old' | 'new';

/** The store's number: the later data of one series has the higher number. */
interface Epoch {
  readonly series: number;
  readonly number: number;
}

interface Instance {
  /** Counts the ends of epochs. */
  ended: number;
  /** What it knows of the store. `undefined` after a start. */
  known: Epoch | undefined;
  memory: Value;
  file: Value;
  /** Running writes of the file. */
  writes: number;
  /** A purge here has reported success. */
  hasPurged: boolean;
}

/** Work that runs step by step. Its own values are what an `async` function would hold. */
interface Job {
  readonly kind: keyof typeof JOBS;
  readonly at: 0 | 1;
  step: number;
  ended: number;
  known: Epoch | undefined;
  value: Value;
  isRestoring: boolean;
  isDone: boolean;
}

interface State {
  readonly instances: [Instance, Instance];
  readonly jobs: Job[];
  source: Value;
  epoch: Epoch;
  stored: Value;
  isDown: boolean;
  isFull: boolean;
}

const WEAKNESSES = [
  'a purge does not end the epoch',
  'the number is raised before the values are erased',
  'a write of another number is accepted',
  'a write without a known number is accepted',
  'work of an earlier epoch is kept in memory',
  'memory is kept when the number has moved',
  'an earlier state of the store is taken for the present one',
  'a new series begins before the restored values are erased',
  'files are erased while they are written',
  'a purge by name in an outage reports success',
  'a purge on a full disk reports success',
] as const;

type Weakness = (typeof WEAKNESSES)[number] | undefined;

function isSame(one: Epoch | undefined, other: Epoch): boolean {
  return one?.series === other.series && one.number === other.number;
}

function moveTo(instance: Instance, epoch: Epoch): void {
  if (isSame(instance.known, epoch)) return;
  instance.known = epoch;
  instance.ended += 1;
  instance.memory = 'none';
}

function raised({ series, number }: Epoch): Epoch {
  return { series, number: number + 1 };
}

/** `false`: the step cannot run yet. `'end'`: the work ends here. */
type Step = (state: State, job: Job, here: Instance, weakness: Weakness) => undefined | false | 'end';

const begin: Step = (_state, job, here) => {
  job.ended = here.ended;
  job.known = here.known;
  return undefined;
};

const readStore: Step = (state, job) => {
  if (!state.isDown) job.value = state.stored;
  return undefined;
};

const loadFromSource: Step = (state, job) => {
  if (job.value === 'none') job.value = state.source;
  return undefined;
};

const keepInMemory: Step = (_state, job, here, weakness) => {
  const isCurrent = job.ended === here.ended || weakness === 'work of an earlier epoch is kept in memory';
  if (isCurrent && job.value !== 'none') here.memory = job.value;
  return undefined;
};

/** The store compares the numbers in the transaction that stores the value. */
const store: Step = (state, job, _here, weakness) => {
  const isAccepted =
    isSame(job.known, state.epoch) ||
    weakness === 'a write of another number is accepted' ||
    (job.known === undefined && weakness === 'a write without a known number is accepted');
  if (isAccepted && !state.isDown && !state.isFull && job.value !== 'none') state.stored = job.value;
  return undefined;
};

const beginFile: Step = (_state, job, here) => {
  if (job.ended !== here.ended) return 'end';
  here.writes += 1;
  return undefined;
};

const endFile: Step = (_state, job, here) => {
  here.writes -= 1;
  here.file = job.value;
  return undefined;
};

/** The record is loaded from the source, then its image is downloaded. */
const changeSource: Step = (state) => {
  state.source = 'new';
  return undefined;
};

const lookUpName: Step = (state, _job, here, weakness) => {
  if (!state.isDown) return undefined;
  here.hasPurged = weakness === 'a purge by name in an outage reports success';
  return 'end';
};

const raiseTooEarly: Step = (state, _job, _here, weakness) => {
  if (weakness === 'the number is raised before the values are erased' && !state.isDown) {
    state.epoch = raised(state.epoch);
  }
  return undefined;
};

/** In one transaction. */
const eraseAndRaise: Step = (state, job, here, weakness) => {
  if (state.isDown || state.isFull) {
    here.hasPurged = state.isFull && weakness === 'a purge on a full disk reports success';
    return 'end';
  }
  state.stored = 'none';
  if (weakness !== 'the number is raised before the values are erased') state.epoch = raised(state.epoch);
  job.known = state.epoch;
  return undefined;
};

const endEpoch: Step = (_state, job, here, weakness) => {
  if (job.known !== undefined && weakness !== 'a purge does not end the epoch') moveTo(here, job.known);
  return undefined;
};

/** Waits for running writes. */
const eraseFiles: Step = (_state, _job, here, weakness) => {
  if (here.writes > 0 && weakness !== 'files are erased while they are written') return false;
  here.file = 'none';
  return undefined;
};

const succeed: Step = (_state, _job, here) => {
  here.hasPurged = true;
  return undefined;
};

const PURGE_STEPS = [raiseTooEarly, eraseAndRaise, endEpoch, eraseFiles, succeed] as const;

/** Tried again until the outage ends. */
const readNumber: Step = (state, job) => {
  if (state.isDown) return false;
  job.known = state.epoch;
  return undefined;
};

/** A lower number of the same series: the store has values from before a purge. They are erased before the number changes. */
const eraseRestored: Step = (state, job, { known }, weakness) => {
  const isEarlier = known !== undefined && known.series === job.known?.series && job.known.number < known.number;
  if (!isEarlier || weakness === 'an earlier state of the store is taken for the present one') return undefined;
  if (state.isDown) return 'end';
  if (weakness !== 'a new series begins before the restored values are erased') state.stored = 'none';
  job.isRestoring = true;
  return undefined;
};

/** From here on, nobody stores what was read before. */
const beginSeries: Step = (state, job) => {
  if (!job.isRestoring) return undefined;
  if (state.isDown || !isSame(job.known, state.epoch)) return 'end';
  state.epoch = { series: state.epoch.series + 1, number: 0 };
  return undefined;
};

/** What was stored in between, and what memory has read of it. */
const eraseAgain: Step = (state, job) => {
  if (!job.isRestoring) return undefined;
  if (state.isDown) return 'end';
  state.stored = 'none';
  state.epoch = raised(state.epoch);
  job.known = state.epoch;
  return undefined;
};

const follow: Step = (_state, job, here, weakness) => {
  if (job.known === undefined) return undefined;
  if (weakness === 'memory is kept when the number has moved') here.known = job.known;
  else moveTo(here, job.known);
  return undefined;
};

/** The steps of each kind of work. */
const JOBS = {
  load: [begin, readStore, loadFromSource, keepInMemory, store],
  /** Like adding the next page to a stored search. */
  change: [begin, readStore, keepInMemory, store],
  download: [begin, loadFromSource, beginFile, endFile],
  purge: [changeSource, ...PURGE_STEPS],
  purgeByName: [changeSource, lookUpName, ...PURGE_STEPS],
  follow: [readNumber, eraseRestored, beginSeries, eraseAgain, follow],
  /** The process is killed, and starts again. */
  restart: [
    (state, job, here) => {
      for (const other of state.jobs) if (other !== job && other.at === job.at && other.step > 0) other.isDone = true;
      Object.assign(here, { known: undefined, memory: 'none', writes: 0, ended: here.ended + 1 });
      return undefined;
    },
  ],
  lose: [
    (state) => {
      state.epoch = { series: state.epoch.series + 1, number: 0 };
      state.stored = 'none';
      return undefined;
    },
  ],
  restore: [
    (state) => {
      state.epoch = FIRST;
      state.stored = 'old';
      return undefined;
    },
  ],
  outage: [
    (state) => {
      state.isDown = true;
      return undefined;
    },
    (state) => {
      state.isDown = false;
      return undefined;
    },
  ],
  fullDisk: [
    (state) => {
      state.isFull = true;
      return undefined;
    },
    (state) => {
      state.isFull = false;
      return undefined;
    },
  ],
} as const satisfies Record<string, readonly Step[]>;

const FIRST: Epoch = { series: 0, number: 0 };
const NEW_JOB = { step: 0, ended: 0, known: undefined, value: 'none', isRestoring: false, isDone: false } as const;

/** The old values that are kept. An instance that has not followed the purge yet, and a restored store, may have them. */
function findOld({ instances, stored, jobs }: State): string | undefined {
  const isSettled = jobs.every(({ isDone }) => isDone);
  const isRestored = jobs.some(({ kind }) => kind === 'restore');
  if (!instances.some(({ hasPurged }) => hasPurged) || (isRestored && !isSettled)) return undefined;
  if (stored === 'old') return 'the store';
  for (const [number, { memory, file, hasPurged }] of instances.entries()) {
    if (memory === 'old' && (hasPurged || isSettled)) return `memory of instance ${number}`;
    if (file === 'old' && hasPurged) return `files of instance ${number}`;
  }
  return undefined;
}

function copyOf({ instances: [first, second], jobs, ...state }: State): State {
  return { ...state, instances: [{ ...first }, { ...second }], jobs: jobs.map((job) => ({ ...job })) };
}

type Work = readonly [kind: keyof typeof JOBS, at: 0 | 1, after?: number];

/** Tries all orders of the jobs' steps. A job begins when the job with the number `after` has ended. */
function explore(work: readonly Work[], weakness?: Weakness): { states: number; old: string | undefined } {
  const instance = { ended: 0, known: FIRST, memory: 'old', file: 'old', writes: 0, hasPurged: false } as const;
  const start: State = {
    instances: [{ ...instance }, { ...instance }],
    jobs: work.map(([kind, at]) => ({ kind, at, ...NEW_JOB })),
    source: 'old',
    epoch: FIRST,
    stored: 'old',
    isDown: false,
    isFull: false,
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
      const result = steps[job.step]?.(next, job, next.instances[job.at], weakness);
      if (result === false) continue;
      job.step += 1;
      job.isDone = result === 'end' || job.step === steps.length;
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

/** A purge at the first instance, which the second one follows. */
const PURGE: readonly Work[] = [
  ['purge', 0],
  ['follow', 1, 0],
];
const SCENARIOS: Readonly<Record<string, readonly Work[]>> = {
  'loads at both': [...PURGE, ['load', 0], ['load', 1]],
  'a load at the other, which also follows before': [...PURGE, ['load', 1], ['follow', 1]],
  'a change of a stored value at each': [...PURGE, ['change', 0], ['change', 1]],
  'a load and a change at the purged instance': [...PURGE, ['load', 0], ['change', 0]],
  'a download': [...PURGE, ['download', 0], ['load', 1]],
  'two purges': [...PURGE, ['purge', 1], ['follow', 0, 2], ['change', 0]],
  'a purge by name in an outage': [
    ['purgeByName', 0],
    ['outage', 0],
    ['follow', 1, 0],
    ['load', 0],
  ],
  'a full disk and a restart': [
    ['purge', 0],
    ['fullDisk', 0],
    ['restart', 0, 0],
    ['follow', 1, 0],
  ],
  'a restart of the other instance': [...PURGE, ['restart', 1], ['load', 1], ['follow', 1]],
  'an outage while the other instance loads': [...PURGE, ['outage', 1], ['load', 1], ['follow', 1, 2]],
  'a store that loses its data': [
    ['purge', 0],
    ['lose', 0, 0],
    ['follow', 1, 1],
    ['follow', 0, 1],
    ['load', 1],
  ],
  'a store that is restored from before the purge': [
    ['purge', 0],
    ['restore', 0, 0],
    ['follow', 0, 1],
    ['follow', 1, 2],
    ['load', 0],
  ],
  'a restored store that fails while its values are erased': [
    ['purge', 0],
    ['restore', 0, 0],
    ['outage', 0, 1],
    ['follow', 0, 1],
    ['follow', 0, 3],
    ['follow', 1, 4],
  ],
  'a restored store, and an instance that starts on it': [
    ['purge', 0],
    ['restore', 0, 0],
    ['restart', 1, 1],
    ['follow', 1, 2],
    ['change', 1, 3],
    ['follow', 0, 1],
    ['follow', 1, 5],
  ],
};

describe('the protocol of epochs', () => {
  it.each(Object.entries(SCENARIOS))('keeps nothing old with %s', (_what, work) => {
    const { states, old } = explore(work);
    expect(old).toBeUndefined();
    expect(states).toBeGreaterThan(20);
  });

  it.each(WEAKNESSES)('keeps something old if %s', (weakness) => {
    expect(Object.values(SCENARIOS).some((work) => explore(work, weakness).old !== undefined)).toBe(true);
  });
});

import type { Channel } from '../domain/channel.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { LoadedChannel } from '../sources/source.ts';

type Field = keyof Channel;

interface MissingFieldsOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'holders'>;
}

/**
 * Detects fields that upstream no longer sends. Counts the newest answer of the last hour about each channel, so that a channel
 * that is loaded often counts only once. A field that most channels lack is a condition.
 */
export interface MissingFields {
  /**
   * Notes an answer of the sources.
   *
   * @param known the record before it
   * @returns the fields that have vanished: the known record has a value, the answer has none, and no call has failed. The
   *   channel may have removed it.
   */
  note(loaded: LoadedChannel, known: Channel | undefined): readonly Field[];
  /** True if most channels lack the field. */
  isMissing(field: Field): boolean;
  /** Ends conditions whose answers are older than an hour. */
  update(): void;
}

interface Answer {
  readonly atMs: number;
  readonly has: readonly Field[];
  /** A call for them failed, or the part of the response that carries them is lost. */
  readonly lost: readonly Field[];
  /** The channel may have removed them. */
  readonly vanished: readonly Field[];
  /** How many answers about the channel there were since it was first noted. */
  readonly count: number;
}

const WINDOW_MS = 3_600_000;
const MAX_CHANNELS = 1_000;
/** Fewer answers may be a short disturbance. */
const MIN_ANSWERS = 5;
/** With fewer channels, each may have removed its value itself. */
const MIN_VANISHED = 3;
const ADVICE = 'upstream may have changed; see "When YouTube changes something" in docs/youtube.md';

export function createMissingFields({ runtime }: MissingFieldsOptions): MissingFields {
  const { clock, health, holders } = runtime;
  /** By channel ID, the oldest first. */
  const answers = new Map<string, Answer>();
  const reported = new Set<Field>();
  holders.add('channels whose fields are compared', () => ({ entries: answers.size, maxEntries: MAX_CHANNELS }));

  function dropOld(): void {
    for (const [channelId, { atMs }] of answers) {
      if (answers.size <= MAX_CHANNELS && clock.monotonic() - atMs < WINDOW_MS) return;
      answers.delete(channelId);
    }
  }

  function keep(channelId: string, answer: Omit<Answer, 'atMs' | 'count'>): void {
    const { count = 0 } = answers.get(channelId) ?? {};
    answers.delete(channelId);
    answers.set(channelId, { ...answer, atMs: clock.monotonic(), count: count + 1 });
    dropOld();
  }

  function findProblem(field: Field): string | null {
    const newest = [...answers.values()];
    const channelsIn = (list: 'has' | 'lost' | 'vanished') =>
      newest.filter((answer) => answer[list].includes(field)).length;
    const [having, lost, vanished] = [channelsIn('has'), channelsIn('lost'), channelsIn('vanished')];
    const total = newest.reduce((sum, { count }) => sum + count, 0);
    const isSure = total >= MIN_ANSWERS && (lost > 0 || vanished >= MIN_VANISHED);
    if (!isSure || lost + vanished <= having) return null;
    return `missing for ${lost + vanished} of ${having + lost + vanished} channels that were loaded in the last hour: ${ADVICE}`;
  }

  function report(field: Field): void {
    const problem = findProblem(field);
    if (problem === null && !reported.delete(field)) return;
    if (problem !== null) reported.add(field);
    health.report(`field ${field}`, problem);
  }

  function update(): void {
    dropOld();
    for (const field of reported) report(field);
  }

  return {
    note(loaded, known) {
      const { channel } = loaded;
      const fields = Object.keys(channel) as Field[];
      const vanished = fields.filter((field) => known !== undefined && hasVanished(field, loaded, known));
      const lost = loaded.isComplete ? [] : loaded.missing;
      const has = fields.filter((field) => isThere(channel[field]) && !lost.includes(field));
      keep(channel.channelId, { has, lost, vanished });
      for (const field of new Set([...lost, ...vanished, ...reported])) report(field);
      return vanished;
    },
    isMissing: (field) => reported.has(field),
    update,
  };
}

function hasVanished(field: Field, { channel, missing }: LoadedChannel, known: Channel): boolean {
  // Some sources never have links: `null` says nothing about them.
  const isUnknown = missing.includes(field) || (field === 'links' && channel.links === null);
  return !isUnknown && isThere(known[field]) && !isThere(channel[field]);
}

function isThere(value: Channel[Field]): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

import { Gauge, type Registry } from '@prometheus-io/client';
import { IMAGE_SOURCE, PAUSE_REASONS, type SourceState } from '../domain/source-status.ts';
import type { Clock } from '../lib/clock.ts';
import type { Holders } from '../lib/holders.ts';
import { createPause, type Pause, type PauseState } from '../lib/http/pause.ts';
import type { Logger } from '../lib/logger.ts';
import type { PausedOperation } from './failover.ts';
import type { ChannelSource } from './source.ts';

/** How sentences name a source, or the calls of a source that have a pause of their own. */
const LABELS = {
  youtube: 'YouTube',
  'youtube names': 'YouTube’s lookup of names',
  'youtube searches': 'YouTube’s search',
  'youtube pages': 'YouTube’s website',
  'youtube feeds': 'YouTube’s feed server',
  'youtube-data-api': 'YouTube Data API',
  'youtube-data-api searches': 'YouTube Data API for searches',
  'image hosts': 'YouTube’s image host',
} as const;

export type PauseName = keyof typeof LABELS;

/** The calls with a pause of their own. YouTube limits all of these separately, any other source only searches. */
const PARTS: Record<PausedOperation, string | undefined> = {
  getChannel: undefined,
  resolve: 'names',
  search: 'searches',
  findPublishedAt: 'feeds',
};

const ADVICE = 'without internet access set SOURCES=catalog';

interface PausesOptions {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly holders: Pick<Holders, 'add'>;
}

export interface Pauses {
  of(name: string): Pause;
  ofCall(source: Pick<ChannelSource, 'name'>, operation: PausedOperation): Pause;
  /** Whether the state of the source explains why the call failed. */
  isExplained(source: string, operation: PausedOperation): boolean;
  /** What readiness, console and log show of a source or of the image hosts. */
  stateOf(source: string): SourceState;
  /** A connection to the source could be opened. */
  regainContact(source: string): void;
  /** Every pause, with its state. */
  states(): readonly { readonly name: string; readonly pause: PauseState | undefined }[];
}

/**
 * The state of every source. Calls that an upstream limits separately have a pause of their own, which stops only these calls:
 * records, names, searches, HTML pages, feeds, images, each allowance of the YouTube Data API.
 */
export function createPauses({ clock, logger, holders }: PausesOptions): Pauses {
  const pauses = new Map<string, Pause>();
  /** The reason of each problem that is in the log and has not ended, by its name. */
  const logged = new Map<string, string>();

  function pauseOf(name: string): Pause {
    const known = pauses.get(name);
    if (known !== undefined) return known;
    const label = Object.hasOwn(LABELS, name) ? LABELS[name as PauseName] : name;
    const onChange = (_state: PauseState | undefined, hasResponded: boolean) => {
      // The source can be reached, for its other calls, too.
      if (hasResponded) regainContact(sourceOf(name));
      log();
    };
    const pause = createPause({ clock, label, onChange });
    pauses.set(name, pause);
    holders.add(`failed requests to ${name}`, pause.stats);
    return pause;
  }

  function stateOf(source: string): SourceState {
    const problems = states().flatMap(({ name, pause }) =>
      pause === undefined || sourceOf(name) !== source
        ? []
        : [{ name, reason: pause.reason, description: pause.description }],
    );
    const own = problems.find(({ name }) => name === source);
    if (own?.reason === 'unreachable') {
      // No other calls can be made either, so there is one problem.
      const description = source === IMAGE_SOURCE ? own.description : `${own.description}; ${ADVICE}`;
      return { state: 'unreachable', problems: [{ ...own, description }] };
    }
    const isUnreachable = problems.some(({ reason }) => reason === 'unreachable');
    return { state: isUnreachable ? 'unreachable' : own === undefined ? 'ready' : 'paused', problems };
  }

  const pausesOf = (source: string) =>
    [...pauses].filter(([name]) => sourceOf(name) === source).map(([, pause]) => pause);

  function regainContact(source: string): void {
    for (const pause of pausesOf(source)) pause.regainContact();
  }

  /** Logs each problem once when it begins, and once when it ends. */
  function log(): void {
    const sources = [...new Set([...pauses.keys()].map(sourceOf))];
    for (const { name, reason, description } of sources.flatMap((source) => stateOf(source).problems)) {
      if (logged.get(name) !== reason) logger.warn({ source: name }, description);
      logged.set(name, reason);
    }
    for (const name of logged.keys()) {
      if (pauses.get(name)?.state() !== undefined) continue;
      logged.delete(name);
      logger.info({ source: name }, `${name} is ready again`);
    }
  }

  const states = () => [...pauses].map(([name, pause]) => ({ name, pause: pause.state() }));

  return {
    of: pauseOf,
    ofCall: ({ name }, operation) => pauseOf(pauseNameOf(name, operation)),
    isExplained: (source, operation) =>
      stateOf(source).state === 'unreachable' || pauses.get(pauseNameOf(source, operation))?.state() !== undefined,
    stateOf,
    regainContact,
    states,
  };
}

function pauseNameOf(source: string, operation: PausedOperation): string {
  const part = source === 'youtube' || operation === 'search' ? PARTS[operation] : undefined;
  return part === undefined ? source : `${source} ${part}`;
}

/** The names of sources have no spaces. */
function sourceOf(pauseName: string): string {
  return pauseName === IMAGE_SOURCE ? pauseName : (pauseName.split(' ')[0] ?? pauseName);
}

/** Which calls are paused, why, and until when. */
export function addPauseGauges(metrics: Registry, { states }: Pick<Pauses, 'states'>): void {
  new Gauge({
    name: 'pennant_source_paused',
    help: '1 while calls to a source are paused, and after that until a call succeeds, by reason: it refuses this address, its daily quota is spent, its calls fail, or it cannot be reached.',
    labelNames: ['source', 'reason'],
    registers: [metrics],
    collect() {
      for (const { name: source, pause } of states()) {
        for (const reason of PAUSE_REASONS) this.set({ source, reason }, Number(pause?.reason === reason));
      }
    },
  });
  new Gauge({
    name: 'pennant_source_paused_until_timestamp_seconds',
    help: 'When the next call to a paused source may be made, Unix time; 0: it is not paused.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      for (const { name: source, pause } of states()) this.set({ source }, (pause?.untilMs ?? 0) / 1000);
    },
  });
}

import { Gauge, type Registry } from '@prometheus-io/client';
import { IMAGE_SOURCE, type SourceState } from '../domain/source-status.ts';
import { BREAKER_REASONS, type Breaker, type BreakerState, createBreaker } from '../lib/breaker.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { SourceOutcome } from './failover.ts';
import type { ChannelSource } from './source.ts';

/** What has a breaker of its own because YouTube limits it apart, and how sentences name it. */
const LABELS = {
  youtube: 'YouTube',
  'youtube names': 'YouTube’s lookup of names',
  'youtube searches': 'YouTube’s search',
  'youtube pages': 'YouTube’s website',
  'youtube feeds': 'YouTube’s feed server',
  'youtube-data-api': 'YouTube Data API',
  'youtube-data-api searches': 'YouTube Data API for searches',
  [IMAGE_SOURCE]: 'YouTube’s image host',
} as const;

export type BreakerName = keyof typeof LABELS;

/**
 * The suffix of a breaker's name, by operation. Operations without a suffix share the breaker that is named after the source.
 * Only YouTube has a breaker for names.
 */
const PARTS: Record<SourceOutcome['operation'], string | undefined> = {
  getChannel: undefined,
  resolve: 'names',
  search: 'searches',
};

interface BreakersOptions {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export interface Breakers {
  of(name: string): Breaker;
  ofCall(source: Pick<ChannelSource, 'name'>, operation: SourceOutcome['operation']): Breaker;
  /** What readiness, console and log show of a source or of the image hosts. */
  stateOf(source: string): SourceState;
  /** All breakers, with their states. */
  states(): readonly { readonly name: string; readonly state: BreakerState | undefined }[];
}

/** The breakers of all sources and of the image hosts. Each logs once when it opens, and once when it closes. */
export function createBreakers({ clock, logger }: BreakersOptions): Breakers {
  const breakers = new Map<string, Breaker>();

  function of(name: string): Breaker {
    const known = breakers.get(name);
    if (known !== undefined) return known;
    const label = Object.hasOwn(LABELS, name) ? LABELS[name as BreakerName] : name;
    const breaker = createBreaker({
      clock,
      label,
      onChange(state) {
        if (state === undefined) logger.info({ source: name }, `${name} is ready again`);
        else logger.warn({ source: name }, state.description);
      },
    });
    breakers.set(name, breaker);
    return breaker;
  }

  const states = () => [...breakers].map(([name, breaker]) => ({ name, state: breaker.state() }));

  return {
    of,
    ofCall: ({ name }, operation) => of(breakerNameOf(name, operation)),
    stateOf(source) {
      const problems = states().flatMap(({ name, state }) =>
        state === undefined || sourceOf(name) !== source
          ? []
          : [{ name, reason: state.reason, cause: state.cause, description: state.description }],
      );
      return { state: problems.some(({ name }) => name === source) ? 'breaker open' : 'ready', problems };
    },
    states,
  };
}

function breakerNameOf(source: string, operation: SourceOutcome['operation']): string {
  const part = source === 'youtube' || operation === 'search' ? PARTS[operation] : undefined;
  return part === undefined ? source : `${source} ${part}`;
}

/** The names of sources have no spaces. */
function sourceOf(breakerName: string): string {
  return breakerName === IMAGE_SOURCE ? breakerName : (breakerName.split(' ')[0] ?? breakerName);
}

/** Which breakers are open, why, and until when. */
export function addBreakerGauges(metrics: Registry, { states }: Pick<Breakers, 'states'>): void {
  new Gauge({
    name: 'pennant_source_paused',
    help: '1 while the breaker of a source is open, and after that until a call succeeds, by reason: the source refuses this address, its daily quota is spent, or its calls fail.',
    labelNames: ['source', 'reason'],
    registers: [metrics],
    collect() {
      for (const { name: source, state } of states()) {
        for (const reason of BREAKER_REASONS) this.set({ source, reason }, Number(state?.reason === reason));
      }
    },
  });
  new Gauge({
    name: 'pennant_source_paused_until_timestamp_seconds',
    help: 'When the next call to a source with an open breaker may be made, Unix time; 0: the breaker is closed.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      for (const { name: source, state } of states()) this.set({ source }, (state?.untilMs ?? 0) / 1000);
    },
  });
}

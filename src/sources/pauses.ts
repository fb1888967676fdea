import { PAUSE_REASONS, type PauseState } from '../domain/source-status.ts';
import type { Clock } from '../lib/clock.ts';
import { createPause, type Pause } from '../lib/http/pause.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { SourceOutcome } from './failover.ts';
import type { ChannelSource } from './source.ts';

/** How sentences name the sources. */
const LABELS = {
  youtube: 'YouTube',
  'youtube JSON calls': 'YouTube’s JSON interface',
  'youtube-data-api': 'YouTube Data API',
  'youtube-data-api searches': 'YouTube Data API for searches',
  'image hosts': 'YouTube’s image host',
} as const;

export type PauseName = keyof typeof LABELS;

export interface PausesOptions {
  readonly clock: Clock;
  /** Called when a pause begins, and with `undefined` when the source is asked again. */
  readonly onChange: (name: string, state: PauseState | undefined) => void;
}

export type Pauses = ReturnType<typeof createPauses>;

/** One pause for each source of channels, for the JSON calls to YouTube, for each allowance of the YouTube Data API, and for the image hosts. */
export function createPauses({ clock, onChange }: PausesOptions) {
  const pauses = new Map<string, Pause>();

  function pauseOf(name: string): Pause {
    const known = pauses.get(name);
    if (known !== undefined) return known;
    const label = Object.hasOwn(LABELS, name) ? LABELS[name as PauseName] : name;
    const pause = createPause({ clock, label, onChange: (state) => onChange(name, state) });
    pauses.set(name, pause);
    return pause;
  }

  /** Searches of the YouTube Data API have an allowance of their own. */
  const nameOf = (source: string, operation: SourceOutcome['operation']) =>
    source === 'youtube-data-api' && operation === 'search' ? `${source} searches` : source;

  return {
    of: pauseOf,
    ofCall: ({ name }: ChannelSource, operation: SourceOutcome['operation']): Pause => pauseOf(nameOf(name, operation)),
    isPaused: (source: string, operation: SourceOutcome['operation']) =>
      pauses.get(nameOf(source, operation))?.state() !== undefined,
    /** Every pause, with its state. */
    states: () => [...pauses].map(([name, pause]) => ({ name, pause: pause.state() })),
  };
}

/** Which sources are paused, why, and until when. */
export function addPauseGauges({ addGauge }: Pick<Metrics, 'addGauge'>, { states }: Pick<Pauses, 'states'>): void {
  addGauge({
    name: 'pennant_source_paused',
    help: '1 while a source is paused, by reason: it refuses this address, its daily quota is spent, or its calls fail.',
    read: () =>
      states().flatMap(({ name: source, pause }) =>
        PAUSE_REASONS.map((reason) => ({ labels: { source, reason }, value: Number(pause?.reason === reason) })),
      ),
  });
  addGauge({
    name: 'pennant_source_paused_until_timestamp_seconds',
    help: 'When the next call to a paused source may be made, Unix time; 0: it is not paused.',
    label: 'source',
    read: () => Object.fromEntries(states().map(({ name, pause }) => [name, (pause?.untilMs ?? 0) / 1000])),
  });
}

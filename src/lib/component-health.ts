import type { Clock } from './clock.ts';
import { describeFailure, type Logger } from './logger.ts';

interface Component {
  problem: string | null;
  /** When the latest lines about it were logged. */
  linesAtMs: number[];
  /** Changes since the latest line. */
  changes: number;
  error: unknown;
}

/** For each component; further changes are counted and logged as one line. */
const LINES_A_MINUTE = 4;
const MINUTE_MS = 60_000;

/** Which components of the service cannot be used at the moment, and why. */
export interface ComponentHealth {
  /**
   * A change is logged once. Another reason for the same state appears in `/readyz` only.
   *
   * @param problem a sentence without its subject; `null`: the component works again
   * @param error the reason, if the problem does not say it
   */
  report(name: string, problem: string | null, error?: unknown): void;
  /** The components with a problem, and the reasons. */
  problems(): readonly (readonly [name: string, problem: string])[];
  /** Logs the state of components whose latest changes were not logged. */
  summarize(): void;
}

export function createComponentHealth(logger: Logger, clock: Clock): ComponentHealth {
  const components = new Map<string, Component>();

  function write(name: string, component: Component): void {
    const { problem, error, changes } = component;
    const fields = { part: name, ...(changes > 0 && { changes }) };
    if (problem === null) logger.info(fields, `${name} works again`);
    else logger.warn({ ...fields, err: error }, `${name}: ${problem}`);
    component.linesAtMs = [...component.linesAtMs, clock.monotonic()].slice(-LINES_A_MINUTE);
    component.changes = 0;
  }

  function mayWrite({ linesAtMs }: Component): boolean {
    const [oldest = Number.NEGATIVE_INFINITY] = linesAtMs;
    return linesAtMs.length < LINES_A_MINUTE || clock.monotonic() - oldest >= MINUTE_MS;
  }

  return {
    report(name, problem, error) {
      const component = components.get(name) ?? { problem: null, linesAtMs: [], changes: 0, error: undefined };
      components.set(name, component);
      const isChange = (problem === null) !== (component.problem === null);
      Object.assign(component, { problem, error });
      if (isChange && mayWrite(component)) write(name, component);
      else if (isChange) component.changes += 1;
      else if (problem !== null) logger.debug({ part: name, err: error }, `${name}: ${problem}`);
    },
    problems: () =>
      [...components].flatMap(([name, { problem, error }]) => {
        if (problem === null) return [];
        return [[name, error === undefined ? problem : `${problem} (${describeFailure(error)})`] as const];
      }),
    summarize() {
      for (const [name, component] of components) {
        if (component.changes > 0 && mayWrite(component)) write(name, component);
      }
    },
  };
}

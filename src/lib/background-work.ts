import type { Clock } from './clock.ts';

const INTERVAL_MS = 60_000;

/**
 * Runs tasks that no request waits for once a minute, for the first time after a minute. The result stops this.
 *
 * @param onError gets bugs only: tasks handle their expected failures themselves
 */
export function startBackgroundWork(
  clock: Clock,
  tasks: readonly (() => void)[],
  onError: (error: unknown) => void,
): () => void {
  function run(): void {
    cancel = clock.after(INTERVAL_MS, run);
    for (const task of tasks) {
      try {
        task();
      } catch (error) {
        onError(error);
      }
    }
  }

  let cancel = clock.after(INTERVAL_MS, run);
  return () => cancel();
}

import { readMetrics } from '../test/helpers/metrics.ts';

/** One value of a service's metrics, by its name with labels. 0 if the series does not exist yet. */
export async function readMetric(inside: string, name: string): Promise<number> {
  const text = await (await fetch(`${inside}/metrics`)).text();
  return readMetrics(text).get(name) ?? 0;
}

export function countEncodes(inside: string): Promise<number> {
  return readMetric(inside, 'pennant_encoder_task_duration_seconds_count{task="encode"}');
}

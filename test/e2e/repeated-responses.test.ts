import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const RECORD = '/channel/UCPennantSample00000001A';

test('a response that is requested continuously is refreshed after its hour', async () => {
  const service = await startTestApp(fetchedSamples());
  onTestFinished(() => service.close());
  /** More often than once a second, which is how long the micro-cache repeats a response. */
  async function askContinually(seconds: number): Promise<string[]> {
    const statuses = [];
    for (let passedMs = 0; passedMs < 1_000 * seconds; passedMs += 900) {
      statuses.push((await service.get(RECORD)).headers['cache-status'] ?? '');
      service.clock.advance(900);
    }
    return statuses;
  }

  await askContinually(1_800);
  const halfOld = (await service.get(RECORD)).headers['cache-control'];
  expect(['public, max-age=1800', 'public, max-age=1801']).toContain(halfOld);
  const later = await askContinually(1_810);
  expect(later.filter((status) => status.includes('fwd=stale'))).toHaveLength(1);
});

import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';

const RECORD = '/channel/UCPennantSample00000001A';

test('an answer that is asked for all the time grows old, and is made anew after its hour', async () => {
  const service = await startTestApp();
  onTestFinished(() => service.close());
  async function askTwiceASecond(seconds: number): Promise<string[]> {
    const statuses = [];
    for (let asked = 0; asked < 2 * seconds; asked += 1) {
      statuses.push((await service.get(RECORD)).headers['cache-status'] ?? '');
      service.clock.advance(500);
    }
    return statuses;
  }

  await askTwiceASecond(1_800);
  const halfOld = (await service.get(RECORD)).headers['cache-control'];
  expect(['public, max-age=1800', 'public, max-age=1801']).toContain(halfOld);
  const later = await askTwiceASecond(1_810);
  expect(later.filter((status) => status.includes('fwd=stale'))).toHaveLength(1);
});

import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../src/app/build.ts';
import { parseConfig } from '../../src/config/settings.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { sendInProcess } from '../helpers/in-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const SAMPLE = 'UCPennantSample00000001A';
const URLS = [`/api/channel/${SAMPLE}`, `/${SAMPLE}/tv`];

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

test('responses leave no timers behind', async () => {
  const config = parseConfig({
    SOURCES: 'catalog',
    RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited',
    DATA_DIR: await createTemporaryDirectory(),
  });
  const logger = pino({ level: 'silent' });
  // The clock of a real service, because a movable one has no timers.
  const app = await buildApp(config, { logger, version: '0.0.0-test', encoder: createFakeEncoder() });
  onTestFinished(() => app.close());

  async function respondTimes(count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      // A response from the micro-cache, and one that passes every step.
      for (const url of URLS.flatMap((each) => [each, `${each}?number=${number}`])) {
        expect((await sendInProcess(app.http, { url })).status).toBe(200);
      }
    }
  }

  await respondTimes(5);
  const before = countTimers();
  await respondTimes(100);
  expect(countTimers()).toBeLessThanOrEqual(before);
});

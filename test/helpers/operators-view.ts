import { onTestFinished } from 'vitest';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { createFakeEncoder } from './fake-encoder.ts';

/** A service with an encoder that encodes nothing. It closes when the test ends. */
export async function startWithoutEncoder(options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startTestApp({ encoder: createFakeEncoder(), ...options });
  onTestFinished(() => service.close());
  return service;
}

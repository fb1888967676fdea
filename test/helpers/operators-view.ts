import { onTestFinished } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { createFakeEncoder } from './fake-encoder.ts';
import { numberedSource } from './fake-source.ts';

/** A service with an encoder that encodes nothing. It closes when the test ends. */
export async function startWithoutEncoder(options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startTestApp({ encoder: createFakeEncoder(), ...options });
  onTestFinished(() => service.close());
  return service;
}

/** A source whose calls all fail. */
export function failingSource(): ChannelSource {
  const fail = () => Promise.reject(new AppError('upstream_unavailable', 'down'));
  return { ...numberedSource(), name: 'failing', resolve: fail, getChannel: fail, search: fail };
}

import { onTestFinished } from 'vitest';
import type { ConsoleState } from '../../src/console/state.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { createFakeEncoder } from './fake-encoder.ts';
import { numberedSource } from './fake-source.ts';
import { readMetrics } from './metrics.ts';

/** A service with an encoder that encodes nothing. It closes when the test ends. */
export async function startWithoutEncoder(options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startTestApp({ encoder: createFakeEncoder(), ...options });
  onTestFinished(() => service.close());
  return service;
}

/** The conditions that `/readyz` shows. */
export async function conditionsOf(service: TestApp): Promise<object[]> {
  return (await service.console('/readyz')).json<{ conditions: object[] }>().conditions;
}

export async function stateOf(service: TestApp): Promise<ConsoleState> {
  return (await service.console('/state.json')).json();
}

/** The value of one series; `undefined` where there is none. */
export async function metric(service: TestApp, series: string): Promise<number | undefined> {
  const { text } = await service.console('/metrics');
  return readMetrics(text).get(series);
}

/** Answers nothing for long enough that it is left alone. */
export function failingSource(): ChannelSource {
  const fail = () => Promise.reject(new AppError('upstream_unavailable', 'down'));
  return { ...numberedSource(), name: 'failing', resolve: fail, getChannel: fail, search: fail };
}

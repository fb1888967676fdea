import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { parseConfig } from '../config/settings.ts';
import { createEndpoints, type EndpointsOptions } from './endpoints.ts';

const DOCUMENT = new URL('../http/openapi/openapi.json', import.meta.url);

test('the OpenAPI document has every path that is served, and no others', () => {
  const runtime = createTestRuntime();
  // Nothing is requested.
  const services = {} as Omit<EndpointsOptions, 'config' | 'runtime' | 'version'>;
  const endpoints = createEndpoints({ config: parseConfig({}), runtime, version: '1.0.0', ...services });
  const inNotationOfOpenApi = endpoints.map(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}'));
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  expect(inNotationOfOpenApi.sort()).toEqual(Object.keys(paths).sort());
});

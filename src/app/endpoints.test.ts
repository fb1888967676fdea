import { expect, test } from 'vitest';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { parseConfig } from '../config/settings.ts';
import { describeOperations } from '../http/openapi/operations.ts';
import { createEndpoints, type EndpointsOptions } from './endpoints.ts';

test('the OpenAPI document has every path that is served, and no others', () => {
  const runtime = createTestRuntime();
  // Nothing is requested.
  const services = {} as Omit<EndpointsOptions, 'config' | 'runtime' | 'version'>;
  const endpoints = createEndpoints({ config: parseConfig({}), runtime, version: '1.0.0', ...services });
  const inNotationOfOpenApi = endpoints.map(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}'));
  expect(inNotationOfOpenApi.sort()).toEqual(Object.keys(describeOperations()).sort());
});

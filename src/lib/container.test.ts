import { expect, test } from 'vitest';
import { isInContainer } from './container.ts';

test.each<[string, Record<string, string>, readonly string[], boolean]>([
  ['Docker', {}, ['/.dockerenv'], true],
  ['Podman', { container: 'podman' }, ['/run/.containerenv'], true],
  ['Kubernetes', { KUBERNETES_SERVICE_HOST: '10.43.0.1' }, [], true],
  ['a machine', { PATH: '/usr/bin' }, ['/etc/os-release'], false],
])('%s is recognized', (_engine, env, files, expected) => {
  expect(isInContainer(env, (path) => files.includes(String(path)))).toBe(expected);
});

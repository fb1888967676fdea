import type { ClientKeys } from '../../src/lib/request-scope.ts';

/** The client with this name: a network of its own, or one of a network if the name is `network/client`. */
export function clientOf(name: string): ClientKeys {
  return { key: name, network: name.split('/', 1)[0] ?? '' };
}

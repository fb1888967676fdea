import { AsyncLocalStorage } from 'node:async_hooks';

/** A client, and the network that it is in. Both are opaque. */
export interface ClientKeys {
  readonly key: string;
  readonly network: string;
}

/** The client of the service's own work. */
const OWN_WORK: ClientKeys = { key: '', network: '' };

/** The request that the current work belongs to. */
interface RequestIdentity {
  readonly requestId: string;
  readonly client: ClientKeys;
}

const requests = new AsyncLocalStorage<RequestIdentity>();

/**
 * Runs a request's work, across all awaits: its log lines name the request, and its calls to upstream count for the
 * client. Shared work, and work that continues after the response, belongs to the request that started it.
 */
export function withRequest<T>(request: RequestIdentity, work: () => T): T {
  return requests.run(request, work);
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return requests.getStore()?.requestId;
}

/** `OWN_WORK` outside of a request. */
export function currentClient(): ClientKeys {
  return requests.getStore()?.client ?? OWN_WORK;
}

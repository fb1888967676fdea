import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose work is being done. */
export interface RequestContext {
  readonly requestId: string;
  /** As the rate limit knows it: the key of an address or a network. */
  readonly client: string;
}

const contexts = new AsyncLocalStorage<RequestContext>();

/**
 * Runs a request's work, across all awaits: every line that is logged on the way names the request, and calls to
 * upstream count for its client. What others join, and what goes on after the response, belongs to the request that
 * started it.
 */
export function withRequest<T>(context: RequestContext, work: () => T): T {
  return contexts.run(context, work);
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** `undefined` for the service's own work. */
export function currentClient(): string | undefined {
  return contexts.getStore()?.client;
}

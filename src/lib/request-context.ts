import { AsyncLocalStorage } from 'node:async_hooks';
import { latestChange } from './change-count.ts';

/** Whose work is being done. */
export interface RequestContext {
  readonly requestId: string;
  /** As the rate limit knows it: the key of an address or a network. */
  readonly client: string;
}

interface WorkContext extends Partial<RequestContext> {
  readonly changeBefore: number;
}

const contexts = new AsyncLocalStorage<WorkContext>();

/**
 * Runs a request's work, across all awaits: every line that is logged on the way names the request, and calls to
 * upstream count for its client. What others join, and what goes on after the response, belongs to the request that
 * started it.
 */
export function withRequest<T>({ requestId, client }: RequestContext, work: () => T): T {
  return contexts.run({ requestId, client, changeBefore: latestChange() }, work);
}

/** Runs work that keeps what it finds: as part of the work that it belongs to, else as work that begins now. */
export function asWork<T>(work: () => T): T {
  return contexts.getStore() === undefined ? contexts.run({ changeBefore: latestChange() }, work) : work();
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** `undefined` for the service's own work. */
export function currentClient(): string | undefined {
  return contexts.getStore()?.client;
}

/** The number of the latest change (`change-count.ts`) when the current work began. */
export function changeBeforeWork(): number {
  return contexts.getStore()?.changeBefore ?? latestChange();
}

import { AsyncLocalStorage } from 'node:async_hooks';

/** The request that the current work belongs to. */
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
 * Runs a request's work, across all awaits: its log lines name the request, and its calls to upstream count for the
 * client. Shared work, and work that continues after the response, belongs to the request that started it.
 */
export function withRequest<T>({ requestId, client }: RequestContext, work: () => T): T {
  return contexts.run({ requestId, client, changeBefore: latestChange() }, work);
}

/** Runs work that stores its result: as part of the current work, or as new work when there is none. */
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

/** The number of the latest change (`nextChange`) when the current work began. */
export function changeBeforeWork(): number {
  return contexts.getStore()?.changeBefore ?? latestChange();
}

/*
 * Purges, take-downs and imports are numbered within the process. Work remembers the latest number when it begins, and
 * stores nothing that a later change concerns.
 */

let latest = 0;

export function latestChange(): number {
  return latest;
}

export function nextChange(): number {
  latest += 1;
  return latest;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Epoch } from './epoch.ts';

/* The context of the current work: the request that it belongs to, and the epoch in which it began. */

/** A client, and the network that it is in. Both are opaque. */
export interface ClientKeys {
  readonly key: string;
  readonly network: string;
}

/** The client of the service's own work. */
export const OWN_WORK: ClientKeys = { key: '', network: '' };

/** The request that the current work belongs to. */
interface RequestIdentity {
  readonly requestId: string;
  readonly client: ClientKeys;
}

interface WorkContext extends Partial<RequestIdentity> {
  /** The epoch in which the work began. */
  readonly epoch: Epoch;
}

const contexts = new AsyncLocalStorage<WorkContext>();

/**
 * Runs a request's work, across all awaits: its log lines name the request, and its calls to upstream count for the
 * client. Shared work, and work that continues after the response, belongs to the request that started it.
 */
export function withRequest<T>(context: RequestIdentity & { readonly epoch: Epoch }, work: () => T): T {
  const { requestId, client, epoch } = context;
  return contexts.run({ requestId, client, epoch }, work);
}

/** Runs work whose result is cached: as part of the current work, or as new work of this epoch if there is none. */
export function asWork<T>(epoch: Epoch, work: () => T): T {
  return contexts.getStore() === undefined ? contexts.run({ epoch }, work) : work();
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** `OWN_WORK` outside of a request. */
export function currentClient(): ClientKeys {
  return contexts.getStore()?.client ?? OWN_WORK;
}

/** The epoch in which the current work began. Outside of any work: one that does not end, without an ID. */
export function epochOfWork(): Epoch {
  return contexts.getStore()?.epoch ?? ENDLESS;
}

const ENDLESS: Epoch = { id: '', hasEnded: false };

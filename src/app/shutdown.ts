import type { Config } from '../config/settings.ts';
import type { BackgroundWork } from '../lib/background-work.ts';
import type { Listener } from '../lib/http/listener.ts';
import { flushSpans } from '../lib/tracing.ts';

interface ShutdownOptions {
  readonly config: Config;
  readonly http: Listener;
  readonly backgroundWork: BackgroundWork;
  readonly encoder: { close(): Promise<void> };
  readonly upstreams: { close(): Promise<void> };
  readonly invalidation: { stop(): Promise<void> };
  readonly stores: { close(): Promise<void> };
}

/** Before connections are cut, requests that still wait for an encoder get a 503: a closed connection gets no response. */
const REFUSAL_MS = 1_000;
const IDLE_SWEEP_MS = 50;

/** Finishes accepted requests, at most for the configured time, then stores pending values. */
export async function shutDown(options: ShutdownOptions): Promise<void> {
  const { config, http, backgroundWork, encoder, upstreams, invalidation, stores } = options;
  backgroundWork.stop();
  // A connection whose last response was sent after the stop began would otherwise stay open for its keep-alive time.
  const sweep = setInterval(() => http.server.closeIdleConnections(), IDLE_SWEEP_MS);
  const finishMs = config.stopTimeoutSeconds * 1_000;
  const cut = setTimeout(() => http.server.closeAllConnections(), finishMs);
  const refuse = setTimeout(() => void encoder.close(), finishMs - REFUSAL_MS);
  await http.close();
  clearInterval(sweep);
  clearTimeout(cut);
  clearTimeout(refuse);
  await encoder.close();
  await upstreams.close();
  await invalidation.stop();
  await Promise.all([stores.close(), flushSpans()]);
}

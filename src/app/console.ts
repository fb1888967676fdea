import type { AddressInfo } from 'node:net';
import type { ShownSetting } from '../config/report.ts';
import type { Config } from '../config/settings.ts';
import { addProcessGauges } from '../console/gauges.ts';
import { createConsoleServer } from '../console/server.ts';
import { sourceProblems } from '../console/source-status.ts';
import type { Condition } from '../console/state.ts';
import type { RefusedClients } from '../http/request/refused-clients.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import type { Listener } from '../lib/http/listener.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Purge } from '../services/purge.ts';
import type { ServiceRateLimiter } from './rate-limiter.ts';
import type { Shutdown } from './shutdown.ts';
import type { Upstreams } from './upstreams.ts';

export interface ConsoleOptions {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly version: string;
  readonly settings: readonly ShownSetting[];
  readonly upstreams: Upstreams;
  readonly encoder: Encoder;
  readonly limiter: ServiceRateLimiter;
  readonly refusedClients: RefusedClients;
  readonly purge: Purge;
  readonly shutdown: Pick<Shutdown, 'isAnnounced'>;
  /** The public listener. */
  readonly http: Listener;
}

const SHOWN_NETWORKS = 20;

/** The private listener with the state that it shows. */
export function openConsole(options: ConsoleOptions): Listener {
  const { config, runtime, version, settings, upstreams, encoder, limiter, refusedClients, purge } = options;

  function conditions(): Condition[] {
    const problems = [...runtime.health.problems(), ...upstreams.states().flatMap(sourceProblems)];
    const restrictions = problems.map(([name, detail]) => ({ name, detail, isBlocking: false }));
    const stopping = { name: 'stopping', detail: 'the service is being stopped', isBlocking: true };
    return options.shutdown.isAnnounced() ? [...restrictions, stopping] : restrictions;
  }

  addProcessGauges(runtime.metrics);
  return createConsoleServer({
    version,
    startedAtMs: Date.now(),
    runtime,
    conditions,
    sources: upstreams.states,
    encoder: encoder.stats,
    limiter: limiter.figures,
    refusedNetworks: () => refusedClients.list(SHOWN_NETWORKS),
    settings,
    purge,
    dataDir: config.dataDir,
    allowedHosts: [config.consoleHost, ...config.consoleAllowedHosts],
    publicBase: (hostname) => config.baseUrls[0] ?? `http://${hostname}:${portOf(options.http)}`,
  });
}

/** The operating system's choice for port 0. */
function portOf({ server }: Listener): number | undefined {
  return (server.address() as AddressInfo | null)?.port;
}

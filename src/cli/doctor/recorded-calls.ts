import type { Config } from '../../config/settings.ts';
import { createBreaker } from '../../lib/breaker.ts';
import { systemClock } from '../../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../../lib/http/http-client.ts';
import { describeFailure } from '../../lib/logger.ts';
import type { JsonObject } from '../../sources/json.ts';
import { SOURCE_FACTORIES } from '../../sources/registry.ts';

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
export type DiagnosedSource = (typeof SOURCE_NAMES)[number];

export interface UpstreamOptions {
  readonly config: Config;
  readonly userAgent: string;
}

/** An outgoing call and its result. */
export interface RecordedCall {
  /** The kind of request. */
  readonly name: string;
  readonly method: string;
  /** Headers are not recorded, because they may contain a key. */
  readonly url: string;
  /** The body, without the part that describes the client. */
  readonly parameters?: JsonObject;
  readonly durationMs: number;
  /** `null` if there was no response. */
  readonly status: number | null;
  readonly body: Buffer | null;
  /** Why there was no response. */
  readonly problem: string | null;
}

/** A source without caches, budgets, breakers and retries, and its calls so far. */
export function openSource(name: DiagnosedSource, wantsWholePages: boolean, { config, userAgent }: UpstreamOptions) {
  const calls: RecordedCall[] = [];
  const unlimited = { ...config, youtubeApiDailyQuota: Number.MAX_SAFE_INTEGER };
  const source = SOURCE_FACTORIES[name](unlimited, {
    clock: systemClock,
    userAgent,
    wrapHttp: (_upstream, client) => recordCalls(client, calls, nameCall),
    // No breaker prevents a call.
    breakerOf: () => ({ ...createBreaker({ clock: systemClock, label: 'YouTube' }), check: () => undefined }),
    keptQuota: { read: async () => undefined, write: async () => undefined },
    onField: () => undefined,
    single: { wantsWholePages },
  });
  return { source, calls };
}

/** The client, with every call added to `calls` when it ends. */
export function recordCalls(
  http: HttpClient,
  calls: RecordedCall[],
  nameOf: (request: HttpRequest) => string,
): HttpClient {
  return {
    async request(request) {
      const startedAt = systemClock.monotonic();
      const record = (outcome: Pick<RecordedCall, 'status' | 'body' | 'problem'>) => {
        const { method, url, body } = request;
        const durationMs = systemClock.monotonic() - startedAt;
        const { context: _, ...parameters } = (body === undefined ? {} : JSON.parse(body)) as JsonObject;
        calls.push({ name: nameOf(request), method, url, ...(body && { parameters }), durationMs, ...outcome });
      };
      try {
        const response = await http.request(request);
        record({ status: response.status, body: response.body, problem: null });
        return response;
      } catch (error) {
        record({ status: null, body: null, problem: describeFailure(error) });
        throw error;
      }
    },
    close: () => http.close(),
  };
}

function nameCall({ url, body }: HttpRequest): string {
  const { pathname } = new URL(url);
  if (pathname === '/' || pathname === '/sw.js_data') return 'version';
  if (pathname.startsWith('/feeds/')) return 'feed';
  if (pathname.endsWith('/about')) return 'about page';
  if (pathname.endsWith('/resolve_url')) return 'resolve';
  if (pathname.endsWith('/search')) return 'search';
  if (pathname.endsWith('/v3/channels')) return 'channels';
  const { continuation, params } = JSON.parse(body ?? '{}') as JsonObject;
  if (continuation !== undefined) return 'about';
  return params === undefined ? 'page' : 'about tab';
}

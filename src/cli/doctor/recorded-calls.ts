import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../../lib/http/client.ts';
import type { JsonObject } from '../../sources/youtube/json.ts';

/** One outgoing call and what came of it. */
export interface RecordedCall {
  /** What was asked for. */
  readonly name: string;
  readonly method: string;
  /** Without headers: these may hold a key. */
  readonly url: string;
  /** What the body asks for, without what every body says of the client. */
  readonly parameters?: JsonObject;
  readonly durationMs: number;
  /** `null` when there was no answer. */
  readonly status: number | null;
  readonly body: Buffer | null;
  /** Why there was no answer. */
  readonly problem: string | null;
}

/** The same client, with every call noted down in the order in which they end. */
export function recordCalls(
  http: HttpClient,
  { calls, clock, nameOf }: { calls: RecordedCall[]; clock: Clock; nameOf: (request: HttpRequest) => string },
): HttpClient {
  return {
    async request(request) {
      const startedAt = clock.monotonic();
      const note = (came: Pick<RecordedCall, 'status' | 'body' | 'problem'>) => {
        const { method, url, body } = request;
        const durationMs = clock.monotonic() - startedAt;
        const { context: _, ...parameters } = (body === undefined ? {} : JSON.parse(body)) as JsonObject;
        calls.push({ name: nameOf(request), method, url, ...(body && { parameters }), durationMs, ...came });
      };
      try {
        const response = await http.request(request);
        note({ status: response.status, body: response.body, problem: null });
        return response;
      } catch (error) {
        note({ status: null, body: null, problem: error instanceof AppError ? explain(error) : String(error) });
        throw error;
      }
    },
    close: () => http.close(),
  };
}

/** A failure with the reason that clients of the service are not told. */
export function explain({ message, cause }: AppError): string {
  return cause instanceof Error ? `${message} (${reasonOf(cause)})` : message;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return [error.message, code].find((text) => text !== undefined && text !== '') ?? error.name;
}

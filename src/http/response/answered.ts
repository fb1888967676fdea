import type { CacheOutcome } from '../../domain/errors.ts';
import type { Failure } from './send.ts';

/** An answer that was handed to the socket, for metrics and the log. */
export interface Answered {
  /** As the router knows it: `/api/channel/:identifier`; `none` and `unparsed` where there is no such. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  readonly requestId: string;
  readonly method: string;
  /** Empty where the request could not be read. */
  readonly path: string;
  /** The client's address, uncut. */
  readonly client: string;
  readonly cache?: CacheOutcome['kind'] | undefined;
  readonly failure?: Failure | undefined;
}

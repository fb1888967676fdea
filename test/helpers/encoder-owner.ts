/** A server's stand-in for tests that kill it: starts one encoder process, tells its id, and keeps it busy. */
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import { slowJob } from './slow-encode.ts';

const encoder = createEncoder({
  processes: 1,
  deadlineMs: 120_000,
  onEvent: (event) => process.send?.(event),
});
await encoder.encode(await slowJob(), { signal: new AbortController().signal, client: '' });

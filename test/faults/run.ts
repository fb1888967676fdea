/**
 * The fault suite: attacks the service, as real processes on loopback, and prints what was done and what was lost.
 * `node test/faults/run.ts [--long] [--losses-only] [--only TEXT]… [SUBJECT…]`; exit code 1 when anything was lost or a
 * bound on time or memory was missed. `--losses-only` tells of missed bounds and exits 0 all the same, for machines that
 * others use too. `--only` leaves out attacks that have none of the texts in their name.
 */
import { changes } from './changes.ts';
import { clients } from './clients.ts';
import type { Subject } from './context.ts';
import { crash } from './crash.ts';
import { disk } from './disk.ts';
import { floods } from './floods.ts';
import { memory } from './memory.ts';
import { oneKey } from './one-key.ts';
import { pictures } from './pictures.ts';
import { runSubjects } from './runner.ts';
import { stops } from './stops.ts';
import { time } from './time.ts';
import { upstream } from './upstream.ts';

const SUBJECTS: readonly Subject[] = [
  changes,
  clients,
  crash,
  disk,
  floods,
  memory,
  oneKey,
  stops,
  pictures,
  upstream,
  time,
];

await runSubjects(SUBJECTS);

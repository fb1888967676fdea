/**
 * The fault suite: attacks the service as real processes on loopback, and prints a table of attacks and results.
 * `node test/faults/run.ts [--long] [--losses-only] [--only TEXT]… [SUBJECT…]`. The exit code is 1 if anything was lost
 * or a bound on time or memory was missed. With `--losses-only`, missed bounds are reported but do not change the exit
 * code, for busy machines. `--only` selects attacks with one of the texts in their name.
 */
import { changes } from './changes.ts';
import { clients } from './clients.ts';
import { connections } from './connections.ts';
import type { Subject } from './context.ts';
import { crash } from './crash.ts';
import { disk } from './disk.ts';
import { floods } from './floods.ts';
import { hostileUpstream } from './hostile-upstream.ts';
import { images } from './images.ts';
import { largeBanners } from './large-banners.ts';
import { memory } from './memory.ts';
import { networks } from './networks.ts';
import { oneKey } from './one-key.ts';
import { places } from './places.ts';
import { purges } from './purges.ts';
import { runSubjects } from './runner.ts';
import { slowReaders } from './slow-readers.ts';
import { stops } from './stops.ts';
import { time } from './time.ts';
import { turns } from './turns.ts';
import { upstream } from './upstream.ts';

const SUBJECTS: readonly Subject[] = [
  changes,
  clients,
  connections,
  crash,
  disk,
  floods,
  hostileUpstream,
  largeBanners,
  memory,
  networks,
  oneKey,
  places,
  purges,
  slowReaders,
  stops,
  images,
  upstream,
  turns,
  time,
];

await runSubjects(SUBJECTS);

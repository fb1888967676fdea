/**
 * The fault suite: attacks the service as real processes on loopback, and prints each attack with its result.
 * `node test/faults/run.ts [--long] [--losses-only] [--only TEXT]… [SUBJECT…]`. The exit code is 1 if anything was lost
 * or a bound on time or memory was missed. With `--losses-only`, missed bounds are reported but do not change the exit
 * code, for busy machines. `--only` selects attacks with one of the texts in their name.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { connections } from './connections.ts';
import { createContext, type Subject, unfinished } from './context.ts';
import { crash } from './crash.ts';
import { disk } from './disk.ts';
import { floods } from './floods.ts';
import { heavyOriginals } from './heavy-originals.ts';
import { memory } from './memory.ts';
import { createReport, loadAverage } from './report.ts';
import { stops } from './stops.ts';

/** Those that need a quiet machine, then the others: the longest first. */
const SUBJECTS: readonly Subject[] = [connections, floods, heavyOriginals, memory, disk, crash, stops];
/** Those that need no quiet machine wait for half of their time. */
const OTHERS_AT_A_TIME = 3;

await runSubjects(SUBJECTS);

/** Runs the attacks that the command line selects, prints their results, and ends the process. */
async function runSubjects(subjects: readonly Subject[]): Promise<never> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      long: { type: 'boolean' },
      'losses-only': { type: 'boolean' },
      only: { type: 'string', multiple: true },
    },
  });
  const isChosen = (attack: string) => values.only?.some((text) => attack.includes(text)) ?? true;
  const chosen = subjects.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.filter((name) => !subjects.some((subject) => subject.name === name));
  if (unknown.length > 0) {
    console.error(`There is no subject ${unknown.join(', ')}: ${subjects.map(({ name }) => name).join(', ')}`);
    process.exit(2);
  }
  const report = createReport((line) => console.log(line));
  const startedAtMs = performance.now();

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      // In one step, or a running attack would start the next service. Encoders end with their service.
      for (const pid of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)) {
        process.kill(Number(pid), 'SIGKILL');
      }
      console.error(`Stopped by ${signal}.`);
      process.exit(1);
    });
  }

  async function attack(subject: Subject): Promise<void> {
    const context = createContext(report, { isLong: values.long === true, isChosen });
    try {
      await subject.run(context);
    } catch (error) {
      report.add(subject.name, 'the subject itself', unfinished(error), 0);
    } finally {
      await context.cleanUp();
    }
  }

  const [quiet, others] = [
    chosen.filter(({ needsQuiet }) => needsQuiet),
    chosen.filter(({ needsQuiet }) => !needsQuiet),
  ];
  for (const subject of quiet) await attack(subject);
  const left = others.values();
  async function attackNext(): Promise<void> {
    for (const subject of left) await attack(subject);
  }
  await Promise.all(Array.from({ length: OTHERS_AT_A_TIME }, attackNext));

  if (report.rows() === 0) {
    console.error('No attack has such a name.');
    process.exit(2);
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  console.log(
    `${report.violations()} violations, ${report.missedBounds()} bounds missed, ${seconds} s, ${loadAverage()}`,
  );
  const countedBounds = values['losses-only'] === true ? 0 : report.missedBounds();
  process.exit(report.violations() + countedBounds === 0 ? 0 : 1);
}

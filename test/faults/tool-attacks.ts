import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import type { ServiceProcess } from '../helpers/process.ts';
import type { Attack, AttackOutcome } from './client-connections.ts';
import { HOT_URLS } from './probe.ts';

const SLOW_CONNECTIONS = 300;
const WRK_CONNECTIONS = 32;
const LARGE_IMAGE = '/UCPennantSample00000001A/tv.png';

/** Attacks by existing tools. */
export const TOOL_ATTACKS: readonly Attack[] = [
  // `CONNECTION_ATTACKS` send slow fields and read slowly in the short form.
  { ...slowAttack('slow fields', '-H'), isForLongForm: true },
  slowAttack('slow bodies', '-B'),
  slowAttack('ranges', '-R'),
  { ...slowAttack('slow reads', '-X'), isForLongForm: true },
  {
    name: `as many requests as wrk can send on ${WRK_CONNECTIONS} connections`,
    findObstacle: () => findMissing('wrk'),
    async run({ base }, untilMs) {
      const args = ['-t1', `-c${WRK_CONNECTIONS}`, `-d${secondsUntil(untilMs)}s`, `${base}${HOT_URLS[1]}`];
      const printed = await outputOf('wrk', args);
      const faults = printed.match(/^\s*(Non-2xx|Socket errors).*$/gm) ?? [];
      const responses = /(\d+) requests in/.exec(printed)?.[1];
      return { done: `${responses} responses`, faults: responses === undefined ? [printed] : faults };
    },
  },
];

function slowAttack(what: string, mode: string): Attack {
  return {
    name: `slowhttptest: ${what} on ${SLOW_CONNECTIONS} connections`,
    findObstacle: () => findMissing('slowhttptest'),
    run: (service, untilMs) => runSlowHttpTest(service, mode, secondsUntil(untilMs)),
  };
}

/** The tool's own client checks every second whether the service can be reached, and reports it. */
async function runSlowHttpTest({ base }: ServiceProcess, mode: string, seconds: number): Promise<AttackOutcome> {
  const connections = ['-c', String(SLOW_CONNECTIONS), '-r', String(SLOW_CONNECTIONS)];
  const times = ['-i', '2', '-l', String(seconds), '-p', '5'];
  const printed = stripVTControlCharacters(
    await outputOf('slowhttptest', [mode, ...connections, ...times, '-u', `${base}${LARGE_IMAGE}`]),
  );
  const end = /^Exit status:\s*(.+)$/m.exec(printed)?.[1];
  const isReached = /service available:\s*YES/.test(printed) && !/service available:\s*NO/.test(printed);
  return { done: `ended by "${end}", reached all the time`, faults: isReached ? [] : [printed] };
}

function secondsUntil(untilMs: number): number {
  return Math.max(1, Math.round((untilMs - performance.now()) / 1000));
}

function findMissing(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.some((folder) => existsSync(join(folder, program))) ? undefined : `${program} is not installed`;
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [[code], printed] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${printed}`);
  return printed;
}

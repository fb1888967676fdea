import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { formatRows, type Part, type Row } from './report.ts';

/** Every part by its name, in order. Each is loaded when it runs, so that no part loads another's libraries. */
const PARTS: Readonly<Record<string, () => Promise<{ readonly bench: Part }>>> = {
  hot: () => import('./hot.ts'),
  first: () => import('./first.ts'),
  encode: () => import('./encode.ts'),
  limiter: () => import('./limiter.ts'),
  redis: () => import('./redis.ts'),
  memory: () => import('./memory.ts'),
  peers: () => import('./peers.ts'),
};
/** What somebody who compares servers wants to know, in two minutes: records and images, hot and cold. */
const QUICK = ['hot', 'peers'];
const USAGE = `Usage: npm run bench -- [--quick] [--only PART[,PART]] [--json FILE]
Parts: ${Object.keys(PARTS).join(', ')}
--quick: ${QUICK.join(' and ')} with fewer rounds, two minutes.
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const names = values.only?.split(',') ?? (values.quick ? QUICK : Object.keys(PARTS));
const unknown = names.filter((name) => !(name in PARTS));

if (unknown.length > 0) console.error(`There is no part ${unknown.join(', ')}.`);
if (values.help === true || unknown.length > 0) console.log(USAGE);
else await run(values.json);

async function run(jsonPath: string | undefined): Promise<void> {
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown kind'}, Node ${process.version}`;
  console.log(machine);
  const rows: Row[] = [];
  for (const name of names) {
    console.log(`\n== ${name}`);
    rows.push(...(await runPart(name)));
  }
  console.log(`\n${formatRows(rows)}`);
  if (jsonPath !== undefined) {
    await writeFile(jsonPath, `${JSON.stringify({ machine, at: new Date().toISOString(), rows }, undefined, 2)}\n`);
  }
}

/** If a part fails, only its own rows are missing. */
async function runPart(name: string): Promise<Row[]> {
  try {
    const part = await PARTS[name]?.();
    return (await part?.bench((line) => console.log(line), { isQuick: values.quick })) ?? [];
  } catch (error) {
    console.error(error);
    const reason = error instanceof Error ? error.message : String(error);
    return [
      { part: name, what: 'the part itself', measured: `failed: ${reason}`, target: 'runs to its end', isMet: false },
    ];
  }
}

import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { PARTS, PARTS_ON_DEMAND, type Part } from './parts.ts';
import { formatTable, type Row } from './report.ts';

const DEFAULT_SIZE = 1_000_000;
const USAGE = `Usage: npm run bench -- [--only PART[,PART]] [--size NUMBER] [--json FILE]
Parts: ${Object.keys(PARTS).join(', ')}
Only with --only: ${[...PARTS_ON_DEMAND].join(', ')}. --size is its number of files, records and channels (${DEFAULT_SIZE}).
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    size: { type: 'string', default: String(DEFAULT_SIZE) },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const names = values.only?.split(',') ?? Object.keys(PARTS).filter((name) => !PARTS_ON_DEMAND.has(name));
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
    rows.push(...(await runPart(name, PARTS[name] as Part)));
  }
  console.log(`\n${formatTable(rows)}`);
  if (jsonPath !== undefined) {
    await writeFile(jsonPath, `${JSON.stringify({ machine, at: new Date().toISOString(), rows }, undefined, 2)}\n`);
  }
}

/** If a part fails, only its own rows are missing. */
async function runPart(name: string, part: Part): Promise<Row[]> {
  try {
    return await part((line) => console.log(line), { size: Number(values.size) });
  } catch (error) {
    console.error(error);
    const reason = error instanceof Error ? error.message : String(error);
    return [
      { part: name, what: 'the part itself', measured: `failed: ${reason}`, target: 'runs to its end', isMet: false },
    ];
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Answers of the real upstream that others recorded: they stand beside the project, and a fresh clone has none. */
const DIRECTORY = join(import.meta.dirname, '../../../shared/youtube-recordings');

/** False where there are none; tests that need them are then skipped, and say so. */
export function findRecordings(): boolean {
  const isThere = existsSync(DIRECTORY);
  if (!isThere) console.log('Skipped: no recordings beside the project (../shared/youtube-recordings).');
  return isThere;
}

export function readRecording(file: string): unknown {
  return JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'));
}

/** What the recordings' own index says should come of a recording. */
export function readExpectation<T>(file: string): T {
  const index = readRecording('index.json') as { files: readonly { file: string; expected: T }[] };
  const entry = index.files.find((each) => each.file === file);
  if (entry === undefined) throw new Error(`${file} is not in the index of recordings`);
  return entry.expected;
}

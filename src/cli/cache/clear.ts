import { createInterface } from 'node:readline/promises';
import { UsageError } from '../command-line.ts';
import { type CacheCommand, type CacheContext, requireDataDir } from './command.ts';
import { noteOthers, purgeStores } from './purge.ts';
import { askRunningService } from './running-service.ts';

export const clearCommand: CacheCommand = {
  usage: 'cache clear [--yes]',
  summary: 'Empties the cache: records, searches, originals and pictures. The catalog stays.',
  help: `Asks first on a terminal; without one --yes is needed. A running service of this DATA_DIR is told, and
goes on with an empty memory; it asks its sources for everything anew. With REDIS_URL what all
instances share goes as well, but not the rate limit, and every other instance empties its own.
Exit code: 0 the cache is empty, 1 it is not, 2 unusable arguments.`,
  options: { yes: { type: 'boolean' } },
  async run({ options }, context) {
    requireDataDir(context.dataDir);
    if (options.yes !== true && !(await isMeant(context))) {
      context.stderr.write('Nothing was removed.\n');
      return false;
    }
    const told = await askRunningService(context, { everything: true });
    if (told === undefined) await purgeStores(context, (purge) => purge.purgeAll());
    context.stdout.write('The cache is empty.\n');
    noteOthers(context, told !== undefined);
    return true;
  },
};

async function isMeant({ dataDir, redis, stdin, stderr }: CacheContext): Promise<boolean> {
  if (stdin.isTTY !== true) throw new UsageError('There is no terminal to ask on: give --yes if it is meant.');
  const question = createInterface({ input: stdin, output: stderr });
  const what = redis === undefined ? dataDir : `${dataDir} and in Redis`;
  try {
    return /^y(es)?$/i.test((await question.question(`Empty the cache in ${what}? [y/N] `)).trim());
  } finally {
    question.close();
  }
}

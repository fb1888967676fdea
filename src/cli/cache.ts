import { StoreUnreadableError } from '../store/store.ts';
import { CacheCommandError, type CacheContext } from './cache/command.ts';
import { clearCommand, purgeCommand } from './cache/purge.ts';
import { statsCommand } from './cache/stats.ts';
import { type CommandGroup, runCommandGroup } from './command-group.ts';
import { systemFailure } from './command-line.ts';

const CACHE: CommandGroup<CacheContext> = {
  about: 'What was loaded, and what was made of it: in cache.db, in pictures/, and with REDIS_URL in Redis.',
  commands: { stats: statsCommand, purge: purgeCommand, clear: clearCommand },
  describeFailure(error) {
    const isExpected = error instanceof CacheCommandError || error instanceof StoreUnreadableError;
    return isExpected ? error.message : systemFailure(error);
  },
};

/**
 * Runs `cache stats|purge|clear` and returns the exit code: 0 done, 1 incomplete, 2 invalid arguments. `--data-dir`
 * replaces `dataDir`.
 */
export function runCacheCommand(args: readonly string[], context: CacheContext): Promise<number> {
  return runCommandGroup(CACHE, args, context);
}

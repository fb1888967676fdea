import { clearCommand, purgeCommand } from './cache/purge.ts';
import { statsCommand } from './cache/stats.ts';
import type { CommandGroup } from './command.ts';

export const cacheCommands: CommandGroup = {
  about: 'What was loaded, and what was made of it: in cache.db, in pictures/, and with REDIS_URL in Redis.',
  commands: { stats: statsCommand, purge: purgeCommand, clear: clearCommand },
};

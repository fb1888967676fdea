import { clearCommand, purgeCommand } from './cache/purge.ts';
import { statsCommand } from './cache/stats.ts';
import type { CommandGroup } from './command.ts';

export const cacheCommands: CommandGroup = {
  about: 'Cached records, searches and pictures, in cache.db and pictures/, and with REDIS_URL in Redis.',
  commands: { stats: statsCommand, purge: purgeCommand, clear: clearCommand },
};

import { Readable } from 'node:stream';
import { catalogCommands } from '../../src/cli/catalog.ts';
import type { EndedCommand } from './command.ts';
import { runInProcess } from './run-command.ts';

/** Runs `catalog …` in this process, without a running service. */
export function runCatalog(
  dataDir: string,
  args: readonly string[],
  { stdin = '', env = {} }: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<EndedCommand> {
  return runInProcess(catalogCommands, args, {
    env: { ...env, DATA_DIR: dataDir, CONSOLE_PORT: '0' },
    stdin: () => Readable.from([Buffer.from(stdin)]),
  });
}

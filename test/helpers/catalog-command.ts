import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fetchChannel } from '../../src/app/fetch-channel.ts';
import { runCatalogCommand } from '../../src/cli/catalog.ts';
import { parseConfig } from '../../src/config/settings.ts';

export interface CatalogCommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface EndedCatalogCommand {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `catalog …` in this process, as main.ts does. */
export async function runCatalog(
  dataDir: string,
  args: readonly string[],
  { stdin = '', env = {} }: CatalogCommandOptions = {},
): Promise<EndedCatalogCommand> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  const exitCode = await runCatalogCommand(args, {
    dataDir,
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    onStopSignal: () => undefined,
    forget: async () => '',
    fetchChannel: (refs, signal) => fetchChannel(parseConfig(env), { version: '0.0.0-test', refs, signal }),
  });
  stdout.end();
  stderr.end();
  const [output, errors] = await written;
  return { exitCode, stdout: output, stderr: errors };
}

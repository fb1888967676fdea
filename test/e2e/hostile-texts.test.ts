import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCatalogCommand } from '../../src/cli/catalog.ts';
import { runDoctorCommand } from '../../src/cli/doctor.ts';
import { runServeCommand } from '../../src/cli/serve.ts';
import { runSettingsCommand } from '../../src/cli/settings.ts';
import { ConfigError, parseConfig } from '../../src/config/settings.ts';
import { AppError } from '../../src/domain/errors.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const HOSTILE = '\u001b[2J\u009b31m\r\u202e';
const LONG = 'x'.repeat(100_000);

interface Streams {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

const COMMANDS: Record<string, (args: string[], streams: Streams, dataDir: string) => unknown> = {
  catalog: (args, streams, dataDir) =>
    runCatalogCommand(args, {
      ...streams,
      dataDir,
      stdin: new PassThrough(),
      onStopSignal: () => undefined,
      forget: async () => '',
      fetchChannel: () => Promise.reject(new AppError('upstream_invalid', `${HOSTILE}${LONG}`)),
    }),
  doctor: (args, streams) =>
    runDoctorCommand(args, {
      ...streams,
      youtube: { origin: 'http://127.0.0.1:1', isPublic: false, useFieldMask: true, aboutToken: 'computed' } as never,
      dataApi: { origin: 'http://127.0.0.1:1', isPublic: false, apiKey: undefined },
      imageOrigin: undefined,
      userAgent: 'pennant-test',
      isTerminal: true,
    }),
  serve: (args, streams) => runServeCommand(args, { ...streams } as never),
  settings: (args, streams) =>
    runSettingsCommand(args, {
      ...streams,
      envFile: `${HOSTILE}${LONG}`,
      settings: [{ name: `OTEL_${HOSTILE}`, value: `${HOSTILE}${LONG}`, origin: 'environment' }],
      warnings: [`environment: ${HOSTILE}${LONG} is not a setting`],
      mistakes: undefined,
    }),
};

async function outputOf(command: string, args: string[]): Promise<string> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  await COMMANDS[command]?.(args, streams, await createTemporaryDirectory());
  return [streams.stdout, streams.stderr].map((stream) => String(stream.read() ?? '')).join('');
}

function expectHarmless(output: string): void {
  expect(output).not.toBe('');
  expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThan(1_500);
}

describe('a command never repeats terminal control characters or long texts', () => {
  const hostile = `${HOSTILE}${LONG}`;
  const url = `https://www.youtube.com/@nobody?${hostile}`;

  it.each([
    ['catalog', [hostile]],
    ['catalog', ['list', hostile]],
    ['catalog', ['list', `--${hostile}`]],
    ['catalog', ['list', '--data-dir', `/${hostile}`]],
    ['catalog', ['import', `/${hostile}`]],
    ['catalog', ['show', hostile]],
    ['catalog', ['show', url]],
    ['catalog', ['add', hostile]],
    ['catalog', ['add', '@nobody']],
    ['catalog', ['remove', url]],
    ['doctor', [hostile]],
    ['doctor', ['@nobody', '--source', hostile]],
    ['serve', [hostile]],
    ['settings', [hostile]],
    ['settings', []],
  ])('%s', async (command, args) => {
    expectHarmless(await outputOf(command, args));
  });

  it.each(['PORT', 'BASE_URL', 'TRUST_PROXY', 'RATE_LIMIT_OVERRIDES', 'SOURCES', 'REDIS_URL', 'YOUTUBE_API_KEY_FILE'])(
    'setting %s',
    (name) => {
      const parse = () => parseConfig({ [name]: `1${hostile}` });
      expect(parse).toThrow(ConfigError);
      try {
        parse();
      } catch (error) {
        expectHarmless((error as Error).message);
      }
    },
  );
});

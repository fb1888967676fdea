import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startForTest } from '../../test/helpers/app.ts';
import { ROOT } from '../../test/helpers/documents.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';

const REDOCLY = join(ROOT, 'tools/node_modules/@redocly/cli/bin/cli.js');

test('Redocly’s recommended rules find no problem in /openapi.json', async () => {
  const service = await startForTest({ env: { CONTACT: 'ops@pennant.example' } });
  // There is no configuration in it or above it.
  const cwd = await createTemporaryDirectory();
  await writeFile(join(cwd, 'openapi.json'), (await service.get('/openapi.json')).bytes);
  // By default, Redocly sends usage data and looks for a newer version.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const args = [REDOCLY, 'lint', '--extends=recommended', '--format=json', 'openapi.json'];
  // The output has the problems also if the program fails.
  const linted = promisify(execFile)(process.execPath, args, { cwd, env }).catch((error) => error);
  const { stdout, stderr } = (await linted) as { readonly stdout: string; readonly stderr: string };
  expect(JSON.parse(stdout), stderr).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
});

import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findRefusingOrigin, respondWithStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { startProcess } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADVISORIES = '/-/npm/v1/security/advisories/bulk';

/** Runs the audit with the real npm and the given registry. */
async function audit(registry: string, files = ['package.json', 'package-lock.json']) {
  const cwd = await createTemporaryDirectory();
  for (const file of files) await cp(join(ROOT, file), join(cwd, file));
  const { PATH, HOME } = process.env;
  const { closed, stdout, stderr } = startProcess(process.execPath, [join(ROOT, 'scripts/check-audit.ts')], {
    cwd,
    env: {
      ...(PATH !== undefined && { PATH }),
      ...(HOME !== undefined && { HOME }),
      npm_config_registry: registry,
      npm_config_fetch_retries: '0',
      npm_config_cache: join(cwd, 'cache'),
    },
  });
  return { exit: await closed, printed: stdout(), errors: stderr() };
}

/** A registry with these advisories and the packages that they name. */
async function startRegistry(advisories: object): Promise<string> {
  const registry = await startFakeUpstream((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    const body = request.url === ADVISORIES ? advisories : { name, 'dist-tags': {}, versions: {} };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  onTestFinished(() => registry.close());
  return registry.origin;
}

function advisoryOf(severity: 'moderate' | 'high') {
  const advisory = { id: 1, url: 'https://advisories.example/1', title: 'A weakness', severity };
  return { undici: [{ ...advisory, vulnerable_versions: '*', cwe: [], cvss: { score: 0, vectorString: null } }] };
}

test('the audit passes when the registry has no advisories', async () => {
  expect(await audit(await startRegistry({}))).toMatchObject({ exit: 0, printed: expect.stringMatching(/no known/) });
});

test('the audit fails on a vulnerability of severity high, and names the package', async () => {
  const { exit, errors } = await audit(await startRegistry(advisoryOf('high')));
  expect(exit).toBe(1);
  expect(errors).toContain('undici: high');
});

test('the audit passes with a vulnerability of severity moderate', async () => {
  expect(await audit(await startRegistry(advisoryOf('moderate')))).toMatchObject({ exit: 0 });
});

test('the audit reports that nothing was checked when its service cannot be reached', async () => {
  const mirror = await startFakeUpstream(respondWithStatus(405));
  onTestFinished(() => mirror.close());
  for (const registry of [mirror.origin, await findRefusingOrigin()]) {
    const { exit, printed } = await audit(registry);
    expect(printed).toContain('npm audit: not checked');
    expect(exit).toBe(3);
  }
});

test('the audit fails when the project has no lock file', async () => {
  const { exit, errors } = await audit(await startRegistry({}), ['package.json']);
  expect(exit).toBe(1);
  expect(errors).toContain('ENOLOCK');
});

import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig, SETTINGS } from '../../src/config/settings.ts';

/*
 * Files that editors, GitHub and other tools read.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const NODE_MAJOR = read('.nvmrc').trim();

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}
interface Job {
  readonly container: { readonly image: string };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

describe('.env.example', () => {
  const uncommented = read('.env.example').replaceAll(/^#(?=\w+=)/gm, '');

  test('sets nothing until a line is uncommented', () => {
    expect(parseEnv(read('.env.example'))).toEqual({});
  });

  test('has every setting with its default', () => {
    const values = parseEnv(uncommented);
    expect(Object.keys(values).toSorted()).toEqual(
      Object.values(SETTINGS)
        .map(({ env }) => env)
        .toSorted(),
    );
    expect(JSON.stringify(parseConfig(values))).toBe(JSON.stringify(parseConfig({})));
  });
});

describe('.github', () => {
  const { jobs } = parse(read('.github/workflows/ci.yaml')) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('the workflow runs .ci/run', () => {
    const commands = steps.flatMap(({ run }) => run ?? []);
    expect(commands).toContain('.ci/run');
    accessSync(join(ROOT, '.ci/run'), constants.X_OK);
  });

  test('every step of the workflow uses an action of a fixed version or runs a command', () => {
    const unclear = steps.filter(({ uses, run }) => run === undefined && !/^[\w-]+\/[\w-]+@v\d+$/.test(uses ?? ''));
    expect(unclear).toEqual([]);
  });

  test('the workflow, .nvmrc, package.json and the Node package have the same major version', () => {
    const images = Object.values(jobs).map(({ container }) => container.image);
    expect(images).toEqual([expect.stringMatching(`^node:${NODE_MAJOR}-`)]);
    expect(MANIFEST.engines.node).toBe(`>=${NODE_MAJOR}`);
    expect(MANIFEST.devDependencies.node?.split('.')[0]).toBe(NODE_MAJOR);
  });

  test.each(readdirSync(join(ROOT, '.github/ISSUE_TEMPLATE')))('the form %s can be filled in', (file) => {
    const { name, description, body } = parse(read(join('.github/ISSUE_TEMPLATE', file))) as {
      readonly name: string;
      readonly description: string;
      readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: object }[];
    };
    expect([name, description].every((text) => text.length > 0)).toBe(true);
    const fields = body.filter(({ type }) => type !== 'markdown');
    expect(fields.length).toBeGreaterThan(0);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    for (const { attributes } of fields) expect(attributes).toHaveProperty('label');
  });

  test.each(['PULL_REQUEST_TEMPLATE.md', 'ISSUE_TEMPLATE/bug_report.yml'])(
    '%s names commands and files that exist',
    (file) => {
      const text = read(join('.github', file));
      const scripts = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, script = '']) => script);
      expect(scripts.filter((script) => !(script in MANIFEST.scripts))).toEqual([]);
      const documents = [...text.matchAll(/\b[A-Z]+\.md\b/g)].map(([name]) => name);
      expect(documents.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    },
  );
});

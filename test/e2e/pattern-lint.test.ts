import { join } from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const eslint = new ESLint({ cwd: ROOT });

async function rulesBrokenBy(code: string, file = 'src/example.ts'): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: join(ROOT, file) });
  return [...new Set((result?.messages ?? []).map(({ ruleId }) => ruleId))];
}

describe('the lint rules for regular expressions', () => {
  it.each([
    ['export const count: RegExp = /^(\\d+)\\s*(k)?\\s+views$/;', 'regexp/no-super-linear-backtracking'],
    ["export const trim = (text: string) => text.replace(/\\s+$/, '');", 'regexp/no-super-linear-move'],
    ["export const nested = new RegExp('(a+)+$');", 'regexp/no-super-linear-backtracking'],
    ['export const find = (word: string) => new RegExp(word);', 'no-restricted-syntax'],
  ])('refuse %s', async (code, rule) => {
    expect(await rulesBrokenBy(code)).toContain(rule);
  });

  it.each(['src/example.ts', 'src/console/page/example.js', 'site/example.js', 'bin/example.cjs'])(
    'apply in %s',
    async (file) => {
      expect(await rulesBrokenBy('const pattern = /\\s+$/;', file)).toEqual(['regexp/no-super-linear-move']);
    },
  );

  it('accept linear patterns, and others that are allowed with a reason', async () => {
    expect(await rulesBrokenBy('export const day: RegExp = /^\\d{1,2}$/;')).toEqual([]);
    const allowed = '// eslint-disable-next-line regexp/no-super-linear-move -- at most 60 characters are read';
    expect(await rulesBrokenBy(`${allowed}\nexport const end = /\\s+$/;`)).toEqual([]);
  });
});

// Only what Biome has no rule for: patterns whose time grows faster than the text that they read (CONTRIBUTING.md).

import { stripTypeScriptTypes } from 'node:module';
import regexp from 'eslint-plugin-regexp';
import * as espree from 'espree';

/** Types become blanks, as when Node runs these files: what is left is JavaScript, at the same places. */
const parser = {
  parseForESLint(code, options) {
    const javaScript = stripTypeScriptTypes(code);
    return { ast: espree.parse(javaScript, { ...options, range: true, loc: true, comment: true, tokens: true }) };
  },
};

const potential = { report: 'potential' };
const anyPosition = { ignoreSticky: false, ignorePartial: false };
const computedPattern = {
  selector: ':matches(NewExpression, CallExpression)[callee.name="RegExp"]',
  message: 'Write a pattern as a literal: one that is put together when it runs cannot be checked.',
};

export default [
  {
    files: ['**/*.{ts,js,cjs,mjs}'],
    languageOptions: { parser, ecmaVersion: 'latest', sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { regexp },
    rules: {
      'no-restricted-syntax': ['error', computedPattern],
      'regexp/no-super-linear-backtracking': ['error', potential],
      'regexp/no-super-linear-move': ['error', { ...potential, ...anyPosition }],
    },
  },
  { ignores: ['**/*.test.ts'] },
];

// Only rules that Biome does not have: patterns that take more than linear time (CONTRIBUTING.md).

import { stripTypeScriptTypes } from 'node:module';
import regexp from 'eslint-plugin-regexp';
import * as espree from 'espree';

/** Replaces types by spaces, like Node, so that the JavaScript keeps its positions. */
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

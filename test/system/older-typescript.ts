import { registerHooks } from 'node:module';

/*
 * Gives version 6 to programs that need TypeScript's JavaScript API, which TypeScript 7 does not have. Loaded with
 * `node --import`.
 */

const OLDER = import.meta.resolve('@ts-morph/common/dist/typescript.js');

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? OLDER : specifier, context),
});

import { registerHooks } from 'node:module';

/*
 * For programs that need TypeScript's JavaScript API, which TypeScript 7 does not have: they get version 6. Loaded with
 * `node --import`.
 */

const OLDER = import.meta.resolve('@ts-morph/common/dist/typescript.js');

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? OLDER : specifier, context),
});

import { expect, it } from 'vitest';
import { readDocument } from '../helpers/documents.ts';

/*
 * The number of files that each common addition may change. CONTRIBUTING.md describes the additions, and
 * `test/system/documents.test.ts` makes them in a copy of the project, where types and tests must pass. If an addition
 * needs another file, that test fails until the section names the file, and then this one fails.
 */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'Add a source': [
    'src/config/settings.ts',
    'src/sources/example/example.test.ts',
    'src/sources/example/example.ts',
    'src/sources/registry.ts',
  ],
  'Add a store': [
    'src/config/settings.ts',
    'src/store/example.test.ts',
    'src/store/example.ts',
    'src/store/registry.ts',
  ],
  'Add an image format': ['src/domain/formats.ts', 'src/site/images.ts'],
  'Add a setting': ['src/config/settings.ts'],
};

/** The files that the blocks of a section write or change. */
function filesOf(title: string): string[] {
  const blocks = readDocument('CONTRIBUTING.md').blocks.filter(({ section }) => section === title);
  const files = blocks.flatMap(({ language, text }) => {
    if (language === 'ts') return /^\/\/ (\S+)/.exec(text)?.slice(1, 2) ?? [];
    return language === 'diff' ? [...text.matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, file = '']) => file) : [];
  });
  return [...new Set(files)].toSorted();
}

it.each(Object.entries(FILES))('%s changes the files listed here, and no others', (title, files) => {
  expect(filesOf(title)).toEqual(files);
});

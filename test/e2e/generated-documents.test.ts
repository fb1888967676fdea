import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocuments } from '../../scripts/generated-docs.ts';
import { VARIANTS } from '../../src/domain/variants.ts';
import { blockWith, ROOT } from '../helpers/documents.ts';

test('the tables of the documents and .env.example are those of the code (npm run docs)', async () => {
  for (const [name, text] of await generatedDocuments()) expect(readFileSync(join(ROOT, name), 'utf8')).toBe(text);
});

test('the record that docs/api.md shows has every variant', () => {
  const record = JSON.parse(blockWith('docs/api.md', '"bannerUrls"', 'json'));
  expect(Object.keys(record.bannerUrls)).toEqual(VARIANTS);
});

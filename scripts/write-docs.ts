import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedDocuments } from './generated-docs.ts';

for (const [name, text] of await generatedDocuments()) writeFileSync(join(import.meta.dirname, '..', name), text);

import { nameOf, readDocuments } from '../helpers/documents.ts';
import { describeDocuments } from './follow-documents.ts';

/*
 * A block that cannot be run is marked in the text with the reason, and is listed here by name.
 */

for (const block of readDocuments().flatMap(({ blocks }) => blocks)) {
  if (block.note?.kind === 'not run') console.log(`skipped: ${nameOf(block)} (${block.note.reason})`);
}

describeDocuments('change nothing');

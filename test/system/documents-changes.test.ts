import { describeDocuments } from './follow-documents.ts';

describeDocuments('change the project');

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What the comment in front of a fenced block says of running it. */
export type Note =
  /** A machine like this one cannot: the reason. */
  | { readonly kind: 'not run'; readonly reason: string }
  /** `.ci/run` or a test does the same. */
  | { readonly kind: 'run elsewhere'; readonly file: string }
  /** The commands go on until they are stopped; what follows in the same section talks to them. */
  | { readonly kind: 'serves' };

/** A fenced block. */
export interface Block {
  readonly document: string;
  readonly line: number;
  /** Counts the headings before it. */
  readonly section: number;
  readonly language: string;
  readonly text: string;
  readonly note: Note | undefined;
}

export interface Document {
  readonly name: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Every document that people read, by its path. */
export function readDocuments(): Document[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = [
    ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...inDocs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
  ];
  return names.toSorted().map((name) => {
    const text = readFileSync(join(ROOT, name), 'utf8');
    return { name, text, blocks: blocksOf(name, text) };
  });
}

const FENCE = /^( *)```(\w*)$/;

function blocksOf(document: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  let section = 0;
  let lastWords = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, indent = '', language = ''] = FENCE.exec(line) ?? [];
    if (FENCE.test(line)) {
      const end = lines.indexOf(`${indent}\`\`\``, at + 1);
      if (end === -1) throw new Error(`${document}:${at + 1}: the block has no end`);
      const content = lines.slice(at + 1, end).map((inner) => inner.slice(indent.length));
      blocks.push({ document, line: at + 1, section, language, text: content.join('\n'), note: noteOf(lastWords) });
      at = end;
      lastWords = '';
    } else if (line.trim() !== '') {
      lastWords = line.trim();
      if (line.startsWith('#')) section += 1;
    }
  }
  return blocks;
}

function noteOf(line: string): Note | undefined {
  const [, comment] = /^<!-- (.+) -->$/.exec(line) ?? [];
  const [, reason] = /^not run: (.+)$/.exec(comment ?? '') ?? [];
  if (reason !== undefined) return { kind: 'not run', reason };
  const [, file] = /^run by (\S+)$/.exec(comment ?? '') ?? [];
  if (file !== undefined) return { kind: 'run elsewhere', file };
  return comment === 'serves' ? { kind: 'serves' } : undefined;
}

/** Where it stands, and how it begins. */
export function nameOf({ document, line, text }: Block): string {
  return `${document}:${line} ${text.split('\n')[0]}`;
}

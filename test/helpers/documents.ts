import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Token, walkTokens } from 'marked';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The comment before a fenced block about running it. */
export type Note =
  /** It cannot be run here. */
  | { readonly kind: 'not run'; readonly reason: string }
  /** `.ci/run` or a test runs the same commands. */
  | { readonly kind: 'run elsewhere'; readonly file: string }
  /** The commands run until they are stopped. Blocks after it in the section send requests to them. */
  | { readonly kind: 'serves' };

/** A fenced block. */
export interface Block {
  readonly document: string;
  /** The heading before it. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
  readonly note: Note | undefined;
}

export type Document = ReturnType<typeof readDocument>;

/** Every Markdown document of the project but those in hidden folders. */
export function readDocuments(): Document[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = [...readdirSync(ROOT), ...inDocs.map((name) => `docs/${name}`)].filter((name) => name.endsWith('.md'));
  return names.toSorted().map(readDocument);
}

/** @param name its path, relative to the project */
export function readDocument(name: string) {
  const text = readFileSync(join(ROOT, name), 'utf8');
  const blocks: Block[] = [];
  let section = '';
  let previous: Token | undefined;
  walkTokens(new Marked().lexer(text), (token) => {
    if (token.type === 'space') return;
    if (token.type === 'heading') section = token.text;
    if (token.type === 'code') {
      blocks.push({ document: name, section, language: token.lang ?? '', text: token.text, note: noteOf(previous) });
    }
    previous = token;
  });
  return { name, blocks };
}

function noteOf(token: Token | undefined): Note | undefined {
  const [, comment = ''] = /^<!-- (.+) -->\s*$/.exec(token?.type === 'html' ? token.raw : '') ?? [];
  const [, reason] = /^not run: (.+)$/.exec(comment) ?? [];
  if (reason !== undefined) return { kind: 'not run', reason };
  const [, file] = /^run by (\S+)$/.exec(comment) ?? [];
  if (file !== undefined) return { kind: 'run elsewhere', file };
  return comment === 'serves' ? { kind: 'serves' } : undefined;
}

/** The text of the document's only block that contains this, in any language by default. */
export function blockWith(document: string, text: string, language?: string): string {
  const blocks = readDocument(document).blocks.filter((block) => language === undefined || block.language === language);
  const found = blocks.filter((block) => block.text.includes(text));
  if (found.length !== 1) throw new Error(`${document} has ${found.length} blocks with ${text}`);
  return found[0]?.text as string;
}

/** The place of a block and its beginning. */
export function nameOf({ document, section, text }: Block): string {
  return `${document}, ${section}: ${text.split('\n')[0]}`;
}

/** Matches a text of a document. `…` in it stands for any text on its line. */
export function textPattern(shown: string): RegExp {
  const parts = shown.trim().split('…');
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^\\n]*')}$`);
}

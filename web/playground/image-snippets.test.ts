import { describe, expect, test } from 'vitest';
import { readState } from './address.ts';
import { imageSnippets, shellQuote } from './image-snippets.ts';
import type { ImageChoice } from './image-url.ts';

/* Titles come from others, and visitors paste the snippets into their pages and shells. */

const TITLE = `"><script>alert('x')</script> [a](b)`;

function write(label: string, changes: Partial<ImageChoice> = {}): string | undefined {
  const choice: ImageChoice = { ...readState('?width=176'), variant: 'avatar', ...changes };
  const urlOf = (changed: Partial<ImageChoice>) =>
    `https://img.example/x?${new URLSearchParams({ ...choice, ...changed })}`;
  const snippets = imageSnippets({ choice, urlOf, alt: TITLE, size: { width: 176, height: 176 } });
  return snippets.find((snippet) => snippet.label === label)?.text;
}

describe('a snippet', () => {
  test('escapes a title in HTML and Markdown', () => {
    expect(write('<img>')).toContain('alt="&quot;&gt;&lt;script&gt;');
    expect(write('Link preview')).toContain('content="&quot;&gt;&lt;script&gt;');
    expect(write('<img>')).not.toContain('<script>');
    expect(write('Markdown')).toContain(String.raw`\[a\](b)](https://img.example/`);
  });

  test('has twice the size for dense screens, but none above the limit', () => {
    expect(write('<img>')).toContain('width=352');
    expect(write('<img>', { width: '2049' })).not.toContain('srcset');
  });

  test('quotes a text for a shell', () => {
    expect(shellQuote("it's $(x)")).toBe(String.raw`'it'\''s $(x)'`);
  });
});

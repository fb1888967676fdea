import { describe, expect, test } from 'vitest';
import type { Variant } from '../domain/variants.ts';
import type { ChannelRecord, ImageChoice } from './image-choice.ts';
import { imageSnippets, shellQuote } from './image-snippets.ts';
import { RECORD_SNIPPETS } from './record-snippets.ts';
import { describeReach } from './snippet-box.ts';

/* Titles and addresses come from others, and visitors paste the snippets into their pages and shells. */

const CHOICE: ImageChoice = {
  variant: 'avatar',
  format: 'auto',
  width: '176',
  height: '',
  quality: '',
  fit: 'cover',
  background: '',
};
const TITLE = `"><script>alert('x')</script> [a](b)`;

function write(variant: Variant, name: string, choice = CHOICE): string | undefined {
  const urlOf = (changes: Partial<ImageChoice>) =>
    `https://img.example/x?${new URLSearchParams({ ...choice, ...changes })}`;
  const input = { choice, urlOf, alt: TITLE, size: { width: 176, height: 176 } };
  return imageSnippets(variant)
    .find((snippet) => snippet.name === name)
    ?.write(input);
}

describe('a snippet', () => {
  test('escapes a title in HTML and Markdown', () => {
    expect(write('avatar', 'img')).toContain('alt="&quot;&gt;&lt;script&gt;');
    expect(write('avatar', 'img')).not.toContain('<script>');
    expect(write('avatar', 'markdown')).toContain(String.raw`\[a\](b)](https://img.example/`);
  });

  test('has twice the size for dense screens, but none above the limit', () => {
    expect(write('avatar', 'img')).toContain('width=352');
    expect(write('avatar', 'img', { ...CHOICE, width: '2049' })).not.toContain('srcset');
  });

  test('quotes a text for a shell', () => {
    expect(shellQuote("it's $(x)")).toBe(String.raw`'it'\''s $(x)'`);
  });

  test('keeps the limits of a Discord message', () => {
    const record = {
      channelId: 'UCPennantSample00000001A',
      title: 'x'.repeat(300),
      description: `${'x'.repeat(4_094)}😀x`,
      bannerUrls: { avatar: 'https://img.example/a', desktop: null },
      subscriberCount: '12',
      videoCount: null,
    } as unknown as ChannelRecord;
    const discord = RECORD_SNIPPETS.find(({ name }) => name === 'discord')?.write({ record, url: '' }) ?? '';
    const [embed] = JSON.parse(discord).embeds;
    expect([embed.title.length, embed.title.at(-1), embed.description.length]).toEqual([256, '…', 4_096]);
    // An emoji is not cut in half.
    expect(embed.description.isWellFormed()).toBe(true);
    expect(embed.thumbnail.url).toBe('https://img.example/UCPennantSample00000001A/avatar.png?width=176');
    expect([embed.image, embed.fields.length]).toEqual([undefined, 1]);
  });
});

describe('the hint beside a snippet', () => {
  test.each([
    'http://localhost:8080/@a/tv',
    "curl 'http://127.0.0.1/x'",
    'url("http://[::1]:8080/")',
    'http://a.localhost',
  ])('says that only this machine can reach %s', (text) =>
    expect(describeReach(text)).toContain('on this machine only'),
  );

  test.each([
    'https://img.example/localhost',
    'http://localhost.example/',
    'http://192.168.1.5:8080/',
    'http://127.0.0.1.example',
    '',
  ])('is absent for %s', (text) => expect(describeReach(text)).toBe(''));
});

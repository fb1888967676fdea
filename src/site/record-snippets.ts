import type { Format } from '../domain/formats.ts';
import type { Variant } from '../domain/variants.ts';
import { type ChannelRecord, imageUrl } from './image-choice.ts';
import { shellQuote } from './image-snippets.ts';
import { formatCount } from './numbers.ts';
import { USUAL_CHOICE } from './page-state.ts';
import type { Snippet } from './snippet-box.ts';

export interface RecordSnippetInput {
  readonly record: ChannelRecord;
  /** The address of the record. */
  readonly url: string;
}

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits (2026-11) */
const EMBED_LIMITS = { title: 256, description: 4096 };
const EMBED_COLOR = 0xe8533f;

export const RECORD_SNIPPETS: readonly Snippet<RecordSnippetInput>[] = [
  { name: 'json', label: 'JSON', write: ({ record }) => JSON.stringify(record, null, 2) },
  { name: 'curl', label: 'curl', write: ({ url }) => `curl -fsS ${shellQuote(url)}` },
  { name: 'fetch', label: 'fetch', write: fetchCall },
  { name: 'python', label: 'Python', write: pythonProgram },
  { name: 'php', label: 'PHP', write: phpProgram },
  {
    name: 'discord',
    label: 'Discord',
    write: discordMessage,
    note: 'POST this as application/json to a webhook. Discord must be able to reach the instance.',
  },
];

function fetchCall({ url }: RecordSnippetInput) {
  return [
    `const response = await fetch(${JSON.stringify(url)});`,
    'const channel = await response.json();',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are part of the text to copy.
    'if (!response.ok) throw new Error(`${channel.code}: ${channel.detail}`);',
    'console.log(channel.title, channel.subscriberCount);',
  ].join('\n');
}

function pythonProgram({ url }: RecordSnippetInput) {
  return [
    'import json',
    'from urllib.request import urlopen',
    '',
    `with urlopen(${JSON.stringify(url)}) as response:`,
    '    channel = json.load(response)',
    'print(channel["title"], channel["subscriberCount"])',
  ].join('\n');
}

function phpProgram({ url }: RecordSnippetInput) {
  const quoted = `'${url.replace(/['\\]/g, '\\$&')}'`;
  return [
    '<?php',
    `$json = file_get_contents(${quoted});`,
    'if ($json === false) exit(1);',
    '$channel = json_decode($json, true, flags: JSON_THROW_ON_ERROR);',
    `echo $channel['title'], ' ', $channel['subscriberCount'], PHP_EOL;`,
  ].join('\n');
}

/** The body of a message with one embed. Every Discord client shows JPEG and PNG. */
function discordMessage({ record }: RecordSnippetInput) {
  const { title, description, channelId, subscriberCount, videoCount } = record;
  const urlOf = (variant: Variant, format: Format, width: string) =>
    imageUrl(record, { ...USUAL_CHOICE, variant, format, width });
  const thumbnail = urlOf('avatar', 'png', '176');
  const image = urlOf('desktop', 'jpeg', '1280');
  const fields = [
    { name: 'Subscribers', value: subscriberCount },
    { name: 'Videos', value: videoCount },
  ].flatMap(({ name, value }) => (value === null ? [] : [{ name, value: formatCount(value), inline: true }]));
  const embed = {
    title: truncated(title, EMBED_LIMITS.title),
    url: `https://www.youtube.com/channel/${channelId}`,
    ...(description && { description: truncated(description, EMBED_LIMITS.description) }),
    color: EMBED_COLOR,
    ...(thumbnail !== undefined && { thumbnail: { url: thumbnail } }),
    ...(image !== undefined && { image: { url: image } }),
    ...(fields.length > 0 && { fields }),
  };
  return JSON.stringify({ embeds: [embed] }, null, 2);
}

function truncated(text: string, maxCharacters: number) {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}

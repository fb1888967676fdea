import { shellQuote } from './image-snippets.js';
import { formatCount } from './numbers.js';

/**
 * @typedef {import('./images.js').ChannelRecord} ChannelRecord
 * @typedef {{ record: ChannelRecord, url: string }} RecordSnippetInput `url` is the record's own
 */

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits (2026-11) */
const EMBED_LIMITS = { title: 256, description: 4096 };
const EMBED_COLOUR = 0xe8533f;

/** @type {readonly import('./snippet-box.js').Snippet<RecordSnippetInput>[]} */
export const RECORD_SNIPPETS = [
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

/** @param {RecordSnippetInput} input */
function fetchCall({ url }) {
  return [
    `const response = await fetch(${JSON.stringify(url)});`,
    'const channel = await response.json();',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are part of the text to copy.
    'if (!response.ok) throw new Error(`${channel.code}: ${channel.detail}`);',
    'console.log(channel.title, channel.subscriberCount);',
  ].join('\n');
}

/** @param {RecordSnippetInput} input */
function pythonProgram({ url }) {
  return [
    'import json',
    'from urllib.request import urlopen',
    '',
    `with urlopen(${JSON.stringify(url)}) as response:`,
    '    channel = json.load(response)',
    'print(channel["title"], channel["subscriberCount"])',
  ].join('\n');
}

/** @param {RecordSnippetInput} input */
function phpProgram({ url }) {
  const quoted = `'${url.replace(/['\\]/g, '\\$&')}'`;
  return [
    '<?php',
    `$json = file_get_contents(${quoted});`,
    'if ($json === false) exit(1);',
    '$channel = json_decode($json, true, flags: JSON_THROW_ON_ERROR);',
    `echo $channel['title'], ' ', $channel['subscriberCount'], PHP_EOL;`,
  ].join('\n');
}

/**
 * The body of a message with one embed. JPEG and PNG are formats that every Discord client shows.
 *
 * @param {RecordSnippetInput} input
 */
function discordMessage({ record }) {
  const { title, description, channelId, bannerUrls, subscriberCount, videoCount } = record;
  const fields = [
    { name: 'Subscribers', value: subscriberCount },
    { name: 'Videos', value: videoCount },
  ].flatMap(({ name, value }) => (value === null ? [] : [{ name, value: formatCount(value), inline: true }]));
  const embed = {
    title: cut(title, EMBED_LIMITS.title),
    url: `https://www.youtube.com/channel/${channelId}`,
    ...(description && { description: cut(description, EMBED_LIMITS.description) }),
    color: EMBED_COLOUR,
    ...(bannerUrls.avatar !== null && { thumbnail: { url: scaled(bannerUrls.avatar, 'png', '176') } }),
    ...(bannerUrls.desktop !== null && { image: { url: scaled(bannerUrls.desktop, 'jpeg', '1280') } }),
    ...(fields.length > 0 && { fields }),
  };
  return JSON.stringify({ embeds: [embed] }, null, 2);
}

/**
 * @param {string} text
 * @param {number} maxCharacters
 */
function cut(text, maxCharacters) {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}

/**
 * @param {string} own
 * @param {string} format
 * @param {string} width
 */
function scaled(own, format, width) {
  const url = new URL(own);
  url.searchParams.set('format', format);
  url.searchParams.set('width', width);
  return url.href;
}

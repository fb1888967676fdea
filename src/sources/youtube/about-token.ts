import { findContinuationToken } from './continuations.ts';
import { firstAt, type JsonObject, valuesAt, valuesNamed } from './json.ts';
import { textWithin } from './texts.ts';

/** Protocol Buffers wire type of strings and nested messages: protobuf.dev/programming-guides/encoding. */
const LENGTH_DELIMITED = 2;

/** Field numbers of the continuation messages, read off tokens of upstream's pages (2023-11 to 2026-07). */
const CONTINUATION_FIELD = 80226972;
const CHANNEL_ID_FIELD = 2;
const PARAMETERS_FIELD = 3;
const PANEL_PATH = [110, 3, 19];
const PANEL_ID_FIELD = 1;

/**
 * Builds the continuation token of a channel's About panel, so that the panel need not wait for the page.
 * `panelId` is any lower-case UUID.
 */
export function buildAboutToken(channelId: string, panelId: string): string {
  const panel = PANEL_PATH.reduceRight(
    (message, number) => field(number, message),
    field(PANEL_ID_FIELD, Buffer.from(panelId)),
  );
  const parameters = encodeURIComponent(panel.toString('base64'));
  const message = field(
    CONTINUATION_FIELD,
    Buffer.concat([field(CHANNEL_ID_FIELD, Buffer.from(channelId)), field(PARAMETERS_FIELD, Buffer.from(parameters))]),
  );
  return encodeURIComponent(message.toString('base64').replaceAll('+', '-').replaceAll('/', '_'));
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}

const ITEMS_IN_PANEL =
  'engagementPanel.engagementPanelSectionListRenderer.content.sectionListRenderer.contents.*' +
  '.itemSectionRenderer.contents.*';

/** Ours has 135 characters. */
const MAX_TOKEN_CHARACTERS = 10_000;

/**
 * Finds the About token that a channel page brings along, in its header only: panels elsewhere on the page belong to
 * shelves ("Featured Channels"). All panels of the header are the same one.
 */
export function findAboutToken(page: JsonObject): string | undefined {
  const panels = valuesNamed(firstAt(page, 'header'), 'showEngagementPanelEndpoint');
  const items = panels.flatMap((panel) => valuesAt(panel, ITEMS_IN_PANEL));
  return textWithin(findContinuationToken(items), MAX_TOKEN_CHARACTERS);
}

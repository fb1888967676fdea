import { type JsonObject, parseJsonObject } from '../../lib/json.ts';

/** `var ytInitialData = {…};</script>`, also as a member of `window` (2019 to 2026-09). */
const START = /\bytInitialData(?:["']\])?\s{0,2}=\s{0,2}(?=\{)/;
const END = '</script>';

/** The data of a page of YouTube, which is a response of the API; `undefined` if there is none. */
export function readInitialData(html: Uint8Array): JsonObject | undefined {
  const text = new TextDecoder().decode(html);
  const start = START.exec(text);
  if (start === null) return undefined;
  const from = start.index + start[0].length;
  // YouTube escapes "<" in texts.
  const end = text.indexOf(END, from);
  const script = text.slice(from, end === -1 ? undefined : end).trimEnd();
  return parseJsonObject(Buffer.from(script.endsWith(';') ? script.slice(0, -1) : script));
}

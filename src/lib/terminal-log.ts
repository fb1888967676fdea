import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';

/** Escapes of JSON for what could steer a terminal; line breaks and tabs, which stacks have, are no such escapes. */
const CONTROL_ESCAPES = /\\(?:u00(?:[01][0-9a-f]|7f|[89][0-9a-f])|[bfr]|.)/g;
const RAW_CONTROLS = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

/** Writes log lines to standard output as people read them: the time of day, and no process id or host name. */
export function createTerminalLog(destination?: NodeJS.WritableStream): DestinationStream {
  const stream = pretty({
    sync: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    ...(destination === undefined ? {} : { destination }),
  });
  return { write: (line) => void stream.write(withoutControls(line)) };
}

/** The same line of JSON, whose texts have escapes where they had control characters. */
function withoutControls(line: string): string {
  const escaped = line.replace(CONTROL_ESCAPES, (found) => (isControl(found) ? `\\${found}` : found));
  return escaped.replace(RAW_CONTROLS, (character) => `\\\\u{${character.charCodeAt(0).toString(16)}}`);
}

function isControl(jsonEscape: string): boolean {
  return jsonEscape.length > 2 || /[bfr]/.test(jsonEscape);
}

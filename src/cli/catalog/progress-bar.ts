const BAR_CHARACTERS = 30;
/** Back to the line's start, and all of it erased: ECMA-48 EL. */
const CLEAR_LINE = '\r\u001b[2K';

export interface ProgressBar {
  show(done: number, label: string): void;
  /** Writes a line that stays. */
  printAbove(line: string): void;
  clear(): void;
}

/** A bar on a terminal; nothing but the lines where the stream is piped. */
export function createProgressBar(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean },
  total: number,
): ProgressBar {
  let drawn = '';

  function draw(text: string): void {
    if (stream.isTTY !== true || (text === '' && drawn === '')) return;
    stream.write(CLEAR_LINE + text);
    drawn = text;
  }

  return {
    show(done, label) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(part * BAR_CHARACTERS);
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
      draw(`${bar} ${String(Math.floor(part * 100)).padStart(3)}%  ${label}`);
    },
    printAbove(line) {
      const bar = drawn;
      draw('');
      stream.write(`${line}\n`);
      draw(bar);
    },
    clear: () => draw(''),
  };
}

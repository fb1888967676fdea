import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgressBar } from './import.ts';

function createStream(isTTY: boolean) {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), written: () => written };
}

const CLEAR = '\r\u001b[2K';

describe('createProgressBar', () => {
  it('redraws one line of a terminal, and keeps printed lines above it', () => {
    const { stream, written } = createStream(true);
    const bar = createProgressBar(stream, 200);
    bar.show(100, '5 channels');
    const half = `${'█'.repeat(15)}${'░'.repeat(15)}  50%  5 channels`;
    expect(written()).toBe(`${CLEAR}${half}`);
    bar.printAbove('line 3: refused');
    expect(written()).toBe(`${CLEAR}${half}${CLEAR}line 3: refused\n${CLEAR}${half}`);
    bar.clear();
    bar.clear();
    expect(written()).toBe(`${CLEAR}${half}${CLEAR}line 3: refused\n${CLEAR}${half}${CLEAR}`);
  });

  it('writes only the printed lines if the output is piped', () => {
    const { stream, written } = createStream(false);
    const bar = createProgressBar(stream, 200);
    bar.show(100, '5 channels');
    bar.printAbove('line 3: refused');
    bar.clear();
    expect(written()).toBe('line 3: refused\n');
  });
});

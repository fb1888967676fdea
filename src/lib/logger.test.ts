import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger, createTerminalLog, describeFailure } from './logger.ts';

async function logged(write: (logger: ReturnType<typeof createLogger>) => void): Promise<string> {
  const destination = new PassThrough();
  write(createLogger({ level: 'info', destination: await createTerminalLog(destination) }));
  return String(destination.read());
}

describe('a log on a pipe', () => {
  it.each(['throw new Error("a bug")', 'process.exit(1)'])('has every line before %s', (end) => {
    const logger = JSON.stringify(new URL('./logger.ts', import.meta.url).href);
    const program = `
      const { createLogger } = await import(${logger});
      const logger = createLogger({ level: 'info' });
      for (let number = 0; number < 1000; number += 1) logger.info({ number }, 'x'.repeat(500));
      ${end}`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    expect(ended.status).toBe(1);
    const numbers = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).number);
    expect(numbers).toEqual(Array.from({ length: 1000 }, (_, number) => number));
  });
});

describe('a log on a full disk', () => {
  it.skipIf(process.platform === 'win32')('has a bound, and counts the lines that were dropped', () => {
    const logger = JSON.stringify(new URL('./logger.ts', import.meta.url).href);
    const program = `
      const { countDroppedLines, createLogger } = await import(${logger});
      const logger = createLogger({ level: 'info' });
      function write(lines) {
        for (let line = 0; line < lines; line += 1) logger.info('x'.repeat(1000));
        return countDroppedLines();
      }
      console.error(JSON.stringify([write(100), write(2000)]));`;
    // Every write to it fails as on a full disk.
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    expect(ended.status).toBe(0);
    const [few, many] = JSON.parse(ended.stderr) as number[];
    expect(few).toBe(0);
    expect(many).toBeGreaterThan(900);
  });
});

describe('a log on a terminal', () => {
  it('escapes control characters in every place', async () => {
    const text = '\u001b[2J\u009b31m\r\u202e\u2028';
    const shown = await logged((logger) => logger.warn({ reason: text, nested: { [text]: [text] } }, text));
    for (const character of '\u001b\u009b\r\u202e\u2028') expect(shown).not.toContain(character);
    expect(shown).toContain('\\u001b[2J');
    expect(shown).toContain('\\u{9b}31m');
  });

  it('shows everything else unchanged, including existing escapes and stacks', async () => {
    const shown = await logged((logger) => {
      logger.error({ err: new Error('a bug') }, 'C:\\u001b "quoted" – नमस्ते');
    });
    expect(shown).toContain('C:\\u001b "quoted" – नमस्ते');
    expect(shown).toMatch(/Error: a bug\n\s+at /);
  });
});

describe('the text of a failure', () => {
  it('has the messages of its causes, each once', () => {
    const reset = new Error('read ECONNRESET');
    const failed = new Error('the source failed', { cause: reset });
    const thrownAgain = new Error('the source failed', { cause: failed });
    expect(describeFailure(thrownAgain)).toBe('the source failed (read ECONNRESET)');
    expect(describeFailure('a text')).toBe('a text');
    expect(describeFailure('\u001b[2Jevil')).toBe('\\u{1b}[2Jevil');
    expect(describeFailure(new Error('\u001b[2Jevil'))).toBe('\\u{1b}[2Jevil');
  });

  it('has the code or the kind of an error without a message', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(describeFailure(new Error('no connection', { cause: refused }))).toBe('no connection (ECONNREFUSED)');
    expect(describeFailure(new AggregateError([]))).toBe('AggregateError');
  });
});

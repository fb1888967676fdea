import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger, createTerminalLog } from './logger.ts';

async function logged(write: (logger: ReturnType<typeof createLogger>) => void): Promise<string> {
  const destination = new PassThrough();
  write(createLogger('info', await createTerminalLog(destination)));
  return String(destination.read());
}

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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PATH_WITH_SERVERS } from './installed.ts';

/**
 * Starts nginx with a configuration that logs errors to `stderr notice`, and waits until it listens.
 *
 * @returns ends it
 */
export async function runNginx(configFile: string): Promise<() => Promise<void>> {
  const args = ['-c', configFile, '-e', 'stderr', '-g', 'daemon off;'];
  const child = spawn('nginx', args, { env: { PATH: PATH_WITH_SERVERS }, stdio: ['ignore', 'ignore', 'pipe'] });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.includes('start worker process')) resolve();
  });
  child.once('exit', () => reject(new Error(`nginx has ended:\n${output}`)));
  await listening;
  return async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
}

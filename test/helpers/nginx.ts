import { PATH_WITH_SERVERS } from './installed.ts';
import { startProcess } from './process.ts';

/**
 * Starts nginx with a configuration that logs errors to `stderr notice`, and waits until it listens.
 *
 * @returns ends it
 */
export async function runNginx(configFile: string): Promise<() => Promise<void>> {
  const args = ['-c', configFile, '-e', 'stderr', '-g', 'daemon off;'];
  const nginx = startProcess('nginx', args, { env: { PATH: PATH_WITH_SERVERS }, stdio: ['ignore', 'ignore', 'pipe'] });
  await nginx.printed(/start worker process/);
  return async () => {
    nginx.child.kill('SIGTERM');
    await nginx.ended;
  };
}

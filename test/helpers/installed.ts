import { spawnSync } from 'node:child_process';

/** On Debian, servers are not in the PATH of ordinary users. */
export const PATH_WITH_SERVERS = `${process.env.PATH}:/usr/sbin`;

/**
 * Whether a program is installed. If not, tests that need it are skipped, and a line is printed.
 *
 * @param untested what is not tested, for the line
 * @throws Error in CI, where no test may be skipped
 */
export function isInstalled(program: string, untested: string, debianPackage = program): boolean {
  const { error } = spawnSync(program, ['--help'], { stdio: 'ignore', env: { PATH: PATH_WITH_SERVERS } });
  if (error === undefined) return true;
  if (process.env.CI) throw new Error(`${program} is needed here: apt-get install ${debianPackage}`);
  console.log(`SKIPPED: no ${program} on this machine, so ${untested} is not tested.`);
  return false;
}

export const findSystemd = () => isInstalled('systemd-analyze', 'deploy/pennant.service', 'systemd');

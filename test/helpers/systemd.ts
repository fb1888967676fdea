import { spawnSync } from 'node:child_process';

/** False where it is absent, but never in CI. */
export function findSystemd(): boolean {
  if (spawnSync('systemd-analyze', ['--version']).status === 0) return true;
  if (process.env.CI) throw new Error('systemd-analyze is needed here: apt-get install systemd');
  console.log('SKIPPED: no systemd-analyze on this machine, so deploy/pennant.service is not checked by it.');
  return false;
}

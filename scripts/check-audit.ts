/**
 * Asks the registry about known weaknesses of the packages that the service runs with, high or worse. Exit code 1 where
 * it knows some. Where it cannot be asked (no network, a mirror without that service) that is said, and nothing else.
 */
import { spawnSync } from 'node:child_process';

interface AuditReport {
  /** Of a call that failed; it names the address. */
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

/** What such a message names; a fault of our own (no lock file) does not. */
const SERVICE_PATH = '/-/npm/v1/security/';

const { status, stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
  encoding: 'utf8',
});
const { message = '', vulnerabilities } = readReport(stdout);
if (message.includes(SERVICE_PATH)) {
  process.stdout.write(`npm audit: its service cannot be reached here (${message})\n`);
} else if (status === 0 && vulnerabilities !== undefined) {
  process.stdout.write('npm audit: no known weakness, high or worse, in what the service runs with\n');
} else {
  const found = Object.entries(vulnerabilities ?? {}).map(([name, { severity }]) => `${name}: ${severity}`);
  process.stderr.write(`npm audit failed\n${found.join('\n')}\n${stdout}${stderr}\n`);
  process.exitCode = 1;
}

function readReport(text: string): AuditReport {
  try {
    return JSON.parse(text) as AuditReport;
  } catch {
    return {};
  }
}

/**
 * Asks the registry for known vulnerabilities of the service's packages, of severity high or above. The exit code is 1 if
 * there are any, and 3 if they could not be checked (no network, a mirror without this service).
 */
import { spawnSync } from 'node:child_process';

interface AuditReport {
  /** The message of a failed call, which names the address. */
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

const NOT_CHECKED = 3;
/** The message of a failed call contains this. That of a local mistake (no lock file) does not. */
const SERVICE_PATH = '/-/npm/v1/security/';

const { status, stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
  encoding: 'utf8',
});
const { message = '', vulnerabilities } = readReport(stdout);
if (message.includes(SERVICE_PATH)) {
  process.stdout.write(`npm audit: not checked, because the registry cannot be reached (${message})\n`);
  process.exitCode = NOT_CHECKED;
} else if (status === 0 && vulnerabilities !== undefined) {
  process.stdout.write('npm audit: no known vulnerabilities of severity high or above\n');
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

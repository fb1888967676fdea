import { Writable } from 'node:stream';
import { runDoctorCommand } from '../../src/cli/doctor.ts';

/** What `doctor --json` writes. */
export interface DoctorReport {
  readonly isFine: boolean;
  readonly channelId: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly calls: readonly { name: string; status: number | null; bytes: number | null; form: string | null }[];
  readonly fields: readonly { field: string; state: string; value: unknown; path: string; note: string | null }[];
  readonly remarks: readonly string[];
}

export interface DoctorOptions {
  /** Of every upstream. */
  readonly origin: string;
  readonly isTerminal?: boolean;
  readonly apiKey?: string | undefined;
  /** As the operator has set it. */
  readonly clientVersion?: string;
  /** What the service has stored of the versions that it has learned. */
  readonly keptVersions?: string;
}

/** Runs the command as the command line does. */
export async function runDoctor(args: readonly string[], options: DoctorOptions) {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const origin = { origin: options.origin, isPublic: false };
  const exitCode = await runDoctorCommand(args, {
    youtube: {
      ...origin,
      clientVersion: options.clientVersion,
      readKeptVersions: async () => options.keptVersions,
      useFieldMask: true,
      aboutToken: 'computed',
    },
    dataApi: { ...origin, apiKey: options.apiKey },
    imageOrigin: options.origin,
    userAgent: 'pennant-test',
    stdout: into('stdout'),
    stderr: into('stderr'),
    isTerminal: options.isTerminal ?? false,
  });
  return { exitCode, ...written };
}

import { join } from 'node:path';
import { digestOfFiles } from '../lib/file-digest.ts';

/** The version with a digest of this program's files, as semver.org names builds: `0.1.0+3f2a91c4e0b7`. */
export function nameBuild(version: string): string {
  return `${version}+${digestOfFiles(join(import.meta.dirname, '..'))}`;
}

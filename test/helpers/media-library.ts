import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

export const LIBRARY_SCRIPT = new URL('../../deploy/media-library.py', import.meta.url).pathname;

export interface EndedProgram {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. The tested service may run in this process. */
export function runProgram(command: string, args: readonly string[], cwd: string): Promise<EndedProgram> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** Adds a folder with the files that yt-dlp writes for videos of these channels. @returns its path */
export async function addVideos(
  library: string,
  name: string,
  ...channels: readonly (string | null)[]
): Promise<string> {
  const folder = join(library, name, 'Season 2026');
  await mkdir(folder, { recursive: true });
  for (const [at, channel_id] of channels.entries()) {
    await writeFile(join(folder, `video ${at}.info.json`), JSON.stringify({ id: `video${at}`, channel_id }));
  }
  return join(library, name);
}

const READ = `
import json, sys, xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
assert root.tag == "tvshow"
print(json.dumps({e.get("aspect", e.tag): (e.findtext("thumb") if e.tag == "fanart" else e.text) or "" for e in root}))`;

/** The texts of tvshow.nfo by tag, of images by aspect. Python's XML parser reads it. */
export async function readNfo(folder: string): Promise<Readonly<Record<string, string>>> {
  const { stdout, stderr } = await runProgram('python3', ['-c', READ, join(folder, 'tvshow.nfo')], folder);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** A process that stores pictures without end, for tests that kill it: `node picture-writer.ts DIRECTORY`. */

import { systemClock } from '../../src/lib/clock.ts';
import { createDiskFileStore } from '../../src/picture-store/disk-files.ts';
import { pictureOf } from './numbered-pictures.ts';

const [, , directory = ''] = process.argv;
const files = createDiskFileStore({ directory, maxBytes: 20_000_000, clock: systemClock, onEvent: () => undefined });

for (let round = 0; ; round += 1) {
  await Promise.all(
    Array.from({ length: 8 }, (_, index) => {
      const number = (round * 8 + index) % 200;
      return files.set(`picture ${number}`, pictureOf(number), number % 4 === 0 ? 'custom' : 'plain');
    }),
  );
  if (round === 2) process.stdout.write('writing\n');
}

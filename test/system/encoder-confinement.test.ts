import { readdir, readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEncoder, type Encoder, type EncoderOptions } from '../../src/images/encoder/encoder.ts';
import { createManualClock } from '../helpers/clock.ts';
import { isInstalled } from '../helpers/installed.ts';
import { statFields } from '../helpers/process-state.ts';

const MIB = 1024 * 1024;
const NICENESS = 5;

let bytes: Buffer;
beforeAll(async () => {
  bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
});

let encoder: Encoder;
afterEach(() => encoder.close());

/** Starts one process, whose tasks have no time limit. */
async function start(options: Partial<EncoderOptions> = {}) {
  const started: (number | undefined)[] = [];
  encoder = createEncoder({
    processes: 1,
    clock: createManualClock(),
    ...options,
    onEvent(event) {
      if (event.kind === 'started') started.push(event.pid);
    },
  });
  await encoder.inspect(async () => bytes);
  return { pid: started[0], started };
}

describe('an encoder process', () => {
  it('runs every thread at a lower priority than the server, without the server’s environment', async () => {
    const { pid } = await start();
    const threads = await readdir(`/proc/${pid}/task`);
    expect(threads.length).toBeGreaterThan(1);
    for (const thread of threads) {
      const fields = statFields(await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
      expect(Number(fields[16])).toBe(NICENESS);
    }
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environment).toContain('MALLOC_ARENA_MAX=1');
    expect(environment).not.toContain('PATH=');
  });

  it.skipIf(!isInstalled('prlimit', 'the memory limit of encoders', 'util-linux'))(
    'refuses an original that needs more memory than it may have, and goes on with others',
    async () => {
      const { started } = await start({ maxDataBytes: 400 * MIB });
      const size = { width: 7_000, height: 7_000 };
      const large = await sharp({ create: { ...size, channels: 4, background: '#48a8' } })
        .webp({ lossless: true })
        .toBuffer();
      expect(large.length).toBeLessThan(10_000);
      // Either the library reports an error, or the process ends.
      const refusal = { code: expect.stringMatching(/^(?:upstream_invalid|overloaded)$/) };
      for (let round = 0; round < 3; round += 1) {
        await expect(encoder.inspect(async () => large)).rejects.toMatchObject(refusal);
        expect(await encoder.inspect(async () => bytes)).toMatchObject({ width: 64 });
        // A new process, because the library may keep the memory of a failed task.
        expect(started.length).toBeGreaterThan(round + 1);
      }
    },
  );
});

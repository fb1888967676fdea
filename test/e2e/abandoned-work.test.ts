import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';
import { startForTest } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

const SAMPLE = 'UCPennantSample00000001A';
/** Windows has no signal that pauses a process. */
const pausingTest = test.skipIf(process.platform === 'win32');

pausingTest('an image whose clients have all disconnected is dropped before an encoder starts on it', async () => {
  let encoderPid = 0;
  const onEvent = ({ pid = 0 }) => {
    encoderPid = pid;
  };
  const encoder = createEncoder({ processes: 1, clock: createManualClock(), onEvent });
  const service = await startForTest({ encoder });
  const base = `http://127.0.0.1:${await service.listen()}/${SAMPLE}/avatar.png`;
  const impatient = new AbortController();
  async function statusOf(width: number, signal = NEVER_ABORTED): Promise<number> {
    const response = await fetch(`${base}?width=${width}`, { signal });
    // A response that is not read would delay the end of the service.
    await response.bytes();
    return response.status;
  }

  await statusOf(10);
  // The encoder is paused, so that further requests wait.
  process.kill(encoderPid, 'SIGSTOP');
  const patient = [statusOf(20)];
  await expect.poll(() => encoder.stats().running).toBe(1);
  const left = [30, 31, 32, 33, 34].map((width) => expect(statusOf(width, impatient.signal)).rejects.toThrow());
  // One of the five images has a second client.
  patient.push(statusOf(30));
  await expect.poll(() => encoder.stats().queued).toBe(5);
  impatient.abort();
  await expect.poll(() => encoder.stats().queued).toBe(1);
  process.kill(encoderPid, 'SIGCONT');
  expect(await Promise.all(patient)).toEqual([200, 200]);
  await Promise.all(left);
});

test('an image whose client disconnects during the download is not encoded', async () => {
  const downloaded = Promise.withResolvers<Buffer>();
  const download = vi.fn(() => downloaded.promise);
  const widths: number[] = [];
  const encoder = createFakeEncoder({
    async encode({ output }) {
      widths.push(output.width);
      return Buffer.from('an image');
    },
  });
  const service = await startForTest({ encoder, sources: [numberedSource()], downloader: { download } });
  const port = await service.listen();
  const path = `/${numberedChannelId(1)}/avatar.png`;
  const accepted = once(service.app.http.server, 'connection');
  const impatient = connect(port, '127.0.0.1');
  impatient.write(`GET ${path}?width=10 HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [socket] = (await accepted) as [Socket];
  await expect.poll(() => download.mock.calls.length).toBe(1);
  impatient.destroy();
  await once(socket, 'close');
  const patient = fetch(`http://127.0.0.1:${port}${path}?width=20`);
  downloaded.resolve(Buffer.from('an original'));
  expect((await patient).status).toBe(200);
  expect(widths).toEqual([20]);
  // The download that the first client started was for both.
  expect(download).toHaveBeenCalledOnce();
});

import { afterEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const AVATAR = '/UCPennantSample00000001A/avatar.webp';

let service: TestApp | undefined;
afterEach(() => service?.close());

test('with another version of the image library, an image is encoded again and has another ETag', async () => {
  const dataDir = await createTemporaryDirectory();
  const clock = createManualClock();
  let encodes = 0;
  const start = async (libraryVersion: string) => {
    await service?.close();
    const { encode } = createFakeEncoder();
    const counting: typeof encode = (job, options) => {
      encodes += 1;
      return encode(job, options);
    };
    const encoder = createFakeEncoder({ libraryVersion, encode: counting });
    service = await startTestApp({ dataDir, clock, encoder });
    return service;
  };
  const before = await (await start('aaaaaaaa')).get(AVATAR);
  expect([before.status, encodes]).toEqual([200, 1]);
  const same = await (await start('aaaaaaaa')).get(AVATAR);
  expect([same.status, same.headers.etag, encodes]).toEqual([200, before.headers.etag, 1]);

  const updated = await start('bbbbbbbb');
  const after = await updated.get(AVATAR, { 'if-none-match': String(before.headers.etag) });
  expect([after.status, encodes]).toEqual([200, 2]);
  expect(after.headers.etag).not.toBe(before.headers.etag);

  const back = await (await start('aaaaaaaa')).get(AVATAR, { 'if-none-match': String(before.headers.etag) });
  expect([back.status, encodes]).toEqual([304, 2]);
});

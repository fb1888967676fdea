import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { type Front, findNginx, startFront } from '../helpers/front.ts';

/* deploy/nginx.conf in a real nginx in front of the service: at /@handle, JSON clients get the record, others the image. */

const JSON_CLIENTS = ['application/json', 'application/json, text/plain, */*', 'application/json, image/png;q=0'];
const IMAGE_CLIENTS: Readonly<Record<string, string>> = {
  '*/*': 'image/jpeg',
  'image/avif,image/webp,*/*;q=0.8': 'image/avif',
  'image/webp,application/json': 'image/webp',
};

describe.skipIf(!findNginx())('at /@handle', () => {
  let service: TestApp;
  let front: Front;
  beforeAll(async () => {
    service = await startTestApp();
    const port = await service.listen();
    front = await startFront([port, port, port]);
  });
  afterAll(async () => {
    await front.stop();
    await service.close();
  });

  interface Reply {
    readonly type: string | null;
    /** Whether nginx responded with a copy. */
    readonly isCopy: boolean;
  }

  async function ask(path: string, accept: string): Promise<Reply> {
    const { status, headers } = await fetch(front.base + path, { headers: { accept } });
    expect(status).toBe(200);
    return { type: headers.get('content-type'), isCopy: headers.get('x-request-id') === null };
  }

  async function expectRecords(path: string): Promise<void> {
    for (const accept of JSON_CLIENTS) {
      expect([accept, await ask(path, accept)]).toEqual([
        accept,
        { type: 'application/json; charset=utf-8', isCopy: false },
      ]);
    }
  }

  async function expectImages(path: string, isCopy: boolean): Promise<void> {
    for (const [accept, type] of Object.entries(IMAGE_CLIENTS)) {
      expect([accept, await ask(path, accept)]).toEqual([accept, { type, isCopy }]);
    }
  }

  test('the record is never cached, and is never sent to clients that want the image', async () => {
    await expectRecords('/@nightglass');
    await expectImages('/@nightglass', false);
    await expectImages('/@nightglass', true);
    await expectRecords('/@nightglass');
  });

  test('a cached image is not sent to clients that want the record', async () => {
    await expectImages('/%40saltmarrowkitchen/', false);
    await expectRecords('/%40saltmarrowkitchen/');
    await expectImages('/%40saltmarrowkitchen/', true);
  });

  test.each(['/@pennantsample/tv', '/@pennantsample?format=jpeg', '/UCPennantSample00000001A'])(
    'and nowhere else, JSON clients are treated differently: at %s they get the cached image',
    async (path) => {
      expect(await ask(path, '*/*')).toEqual({ type: 'image/jpeg', isCopy: false });
      expect(await ask(path, 'application/json')).toEqual({ type: 'image/jpeg', isCopy: true });
    },
  );
});

import { realpath } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { startFakeUpstream } from '../../../test/helpers/fake-upstream.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { parseConfig } from '../../config/settings.ts';
import { CommandFailure } from '../command.ts';
import { askRunningService } from './purge.ts';

const PURGED = { channelId: 'UC', entries: {}, images: 1, imageBytes: 2 };

let reply: { status: number; body: string };
let received: { url: string | undefined; headers: IncomingHttpHeaders; body: unknown } | undefined;
const server = await startFakeUpstream(async (request, response) => {
  received = { url: request.url, headers: request.headers, body: await json(request) };
  response.writeHead(reply.status).end(reply.body);
});
const CONSOLE_PORT = new URL(server.origin).port;
afterAll(() => server.close());

async function ask(given: Partial<typeof reply> = {}, port = CONSOLE_PORT) {
  reply = { status: 200, body: JSON.stringify(PURGED), ...given };
  const dataDir = await createTemporaryDirectory();
  const config = parseConfig({ CONSOLE_PORT: port, DATA_DIR: dataDir });
  return { dataDir, purged: askRunningService(config, { channel: '@name' }) };
}

describe('the running service of this DATA_DIR', () => {
  it('gets the directory’s real path, and reports what it has removed', async () => {
    const { dataDir, purged } = await ask();
    expect(await purged).toEqual(PURGED);
    expect(received).toMatchObject({
      url: '/purge',
      headers: { 'content-type': 'application/json', 'x-pennant-console': 'command line' },
      body: { channel: '@name', dataDir: await realpath(dataDir) },
    });
  });

  it.each([500, 503])('has failed if it replies %d', async (status) => {
    const { purged } = await ask({ status, body: JSON.stringify({ detail: 'the disk is full' }) });
    await expect(purged).rejects.toThrow(/could not remove everything: the disk is full/);
    const { purged: without } = await ask({ status, body: 'no JSON' });
    await expect(without).rejects.toThrow(`status ${status}`);
    await expect(without).rejects.toBeInstanceOf(CommandFailure);
  });

  it.each([404, 409, 499])('is a service with another DATA_DIR if it replies %d', async (status) => {
    expect(await (await ask({ status })).purged).toBeUndefined();
  });

  it('is absent if nothing listens or no address is known', async () => {
    expect(await (await ask({}, '1')).purged).toBeUndefined();
    const config = parseConfig({ CONSOLE_PORT: '0', DATA_DIR: '/nowhere' });
    expect(await askRunningService(config, { everything: true })).toBeUndefined();
  });
});

import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startFakeUpstream } from '../../../test/helpers/fake-upstream.ts';
import { findFreePort } from '../../../test/helpers/process.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { parseConfig } from '../../config/settings.ts';
import { CommandFailure } from '../command.ts';
import { purgeByService } from './running-service.ts';

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
  return { dataDir, purged: purgeByService(config, { channel: '@name' }) };
}

describe('the running service of this DATA_DIR', () => {
  it('gets the directory’s real path, and reports what it has removed', async () => {
    const { dataDir, purged } = await ask();
    expect(await purged).toEqual({ origin: server.origin, purged: PURGED });
    expect(received).toMatchObject({
      url: '/purge',
      headers: { 'content-type': 'application/json', 'x-pennant-console': 'command line' },
      body: { channel: '@name', dataDir: await realpath(dataDir) },
    });
  });

  const problem = (status: number, detail: string) => ({ status, body: JSON.stringify({ status, detail }) });

  it.each([500, 503])('has failed if it replies %d', async (status) => {
    const { purged } = await ask(problem(status, 'The disk is full.'));
    await expect(purged).rejects.toThrow(/could not purge\. The disk is full\.$/);
    await expect(purged).rejects.toBeInstanceOf(CommandFailure);
  });

  it('has failed with all of a long reason, and with what is left and what to do after it', async () => {
    const detail = `Redis cannot be used (${'NOAUTH '.repeat(40)}). Not removed: its entries. Try again when Redis works.`;
    const { purged } = await ask(problem(503, detail));
    await expect(purged).rejects.toThrow(`could not purge. ${detail}`);
  });

  it('has nothing stored if it replies 404', async () => {
    const { purged } = await ask(problem(404, 'Nothing is stored under that name.'));
    expect(await purged).toEqual({ origin: server.origin, purged: undefined });
  });

  it.each([
    ['a service with another DATA_DIR', problem(409, 'This service has another DATA_DIR.')],
    ['another program', problem(405, 'Only GET.')],
    ['another program', { status: 404, body: 'Not found' }],
    ['another program', { status: 200, body: '<!doctype html>' }],
    ['another program', { status: 503, body: '' }],
  ])('is not %s: the purge is refused', async (what, given) => {
    const { purged } = await ask(given);
    await expect(purged).rejects.toThrow(`${server.origin} belongs to ${what}. Nothing was purged.`);
    await expect(purged).rejects.toThrow('If no service runs on this DATA_DIR, set CONSOLE_PORT=0.');
  });

  it.each([
    [
      'greets like a mail server is refused',
      '220 mail.example ESMTP\r\n',
      /belongs to another program\. Nothing was purged/,
    ],
    ['closes the connection may have removed something', '', /closed the connection: .*Something may be left/],
  ])('that %s', async (_what, greeting, message) => {
    const program = createServer((socket) => socket.end(greeting)).listen(0, '127.0.0.1');
    onTestFinished(() => void program.close());
    await once(program, 'listening');
    const { port } = program.address() as AddressInfo;
    const { purged } = await ask({}, String(port));
    await expect(purged).rejects.toThrow(message);
  });

  it('is absent if nothing listens or no address is known', async () => {
    expect(await (await ask({}, String(await findFreePort()))).purged).toBeUndefined();
    const config = parseConfig({ CONSOLE_PORT: '0', DATA_DIR: '/nowhere' });
    expect(await purgeByService(config, { everything: true })).toBeUndefined();
  });
});

import { expect, test } from 'vitest';
import { respondWithJson, startFakeUpstream } from '../../test/helpers/fake-upstream.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { purgeCommand } from './purge.ts';

const CHANNEL_ID = 'UCgone_________________A';

/** Purges the channel by a service that replies so. */
async function purge(reply: object, status = 200) {
  const service = await startFakeUpstream(respondWithJson(reply, status));
  const ended = await runInProcess(purgeCommand, ['@gone'], { env: { CONSOLE_PORT: new URL(service.origin).port } });
  await service.close();
  return {
    ...ended,
    stderr: ended.stderr.replaceAll(service.origin.replace('127.0.0.1', 'localhost'), 'http://service'),
  };
}

test('says what the running service has removed', async () => {
  expect(await purge({ channelId: CHANNEL_ID, entries: 5 })).toEqual({
    exitCode: 0,
    stdout: `Purged ${CHANNEL_ID}: 5 entries.\n`,
    stderr: '',
  });
});

test.each([
  [503, 'Redis cannot be used. Not removed: its entries.', ''],
  [404, 'Nothing is stored under that name.', ' Purge the channel by its ID.'],
])('fails with the detail of a %d', async (status, detail, advice) => {
  expect(await purge({ status, detail }, status)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `The service at http://service did not purge @gone. ${detail}${advice}\n`,
  });
});

test('fails when no service responds, or has no private listener', async () => {
  const service = await startFakeUpstream(respondWithJson({}));
  await service.close();
  const env = { CONSOLE_PORT: new URL(service.origin).port };
  expect(await runInProcess(purgeCommand, ['@gone'], { env })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`No service responds at ${service.origin.replace('127.0.0.1', 'localhost')}.`),
  });
  expect(await runInProcess(purgeCommand, ['@gone'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('restart the service'),
  });
  expect(await runInProcess(purgeCommand, ['some words'])).toMatchObject({ exitCode: 2, stdout: '' });
});

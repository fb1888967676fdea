import { expect, test } from 'vitest';
import { startWithoutEncoder } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

test('a change of an own channel is in the next response, although equal requests of one second get one response', async () => {
  const dataDir = await createDataDir();
  await writeCatalog(dataDir, [catalogLine(1)]);
  const service = await startWithoutEncoder({ dataDir });
  const titleOf = async () => {
    const { title } = (await service.get(`/channel/${numberedChannelId(1)}`)).json<{ title: string }>();
    return title;
  };
  service.clock.advance(999);
  expect(await titleOf()).toBe('Channel 1');
  await writeCatalog(dataDir, [catalogLine(1, { title: 'New' })]);
  expect(await titleOf()).toBe('Channel 1');
  service.clock.advance(1);
  await expect.poll(titleOf).toBe('New');
});

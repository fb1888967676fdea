import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startWithoutEncoder } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

test('while another process locks cache.db, values are read from it, and those that cannot be written are loaded again', async () => {
  const env = { MEMORY_CACHE_BYTES: '0' };
  const service = await startWithoutEncoder({ env, sources: [numberedSource()] });
  const outcomeOf = async (number: number) => {
    const { status, headers } = await service.getLater(`/api/channel/${numberedChannelId(number)}`);
    return [status, /hit|fwd=uri-miss/.exec(String(headers['cache-status']))?.[0]];
  };
  expect(await outcomeOf(1)).toEqual([200, 'fwd=uri-miss']);
  expect(await outcomeOf(1)).toEqual([200, 'hit']);

  // The lock lasts until all responses have arrived.
  const other = new DatabaseSync(join(service.dataDir, 'cache.db'));
  other.exec('BEGIN IMMEDIATE');
  expect(await outcomeOf(2)).toEqual([200, 'fwd=uri-miss']);
  expect(await outcomeOf(2)).toEqual([200, 'fwd=uri-miss']);
  expect(await outcomeOf(1)).toEqual([200, 'hit']);
  other.exec('ROLLBACK');
  other.close();
  expect(await outcomeOf(2)).toEqual([200, 'fwd=uri-miss']);
  expect(await outcomeOf(2)).toEqual([200, 'hit']);
});

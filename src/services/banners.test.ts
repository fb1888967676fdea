import { expect, it } from 'vitest';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import type { Channel } from '../domain/channel.ts';
import type { CacheOutcome } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import { createBannerService, type PictureRequest } from './banners.ts';
import type { Original } from './cache-policy.ts';
import type { PictureSpec } from './pictures.ts';

const CHANNEL_ID = numberedChannelId(1);
const ORIGINAL: Original = {
  refKey: 'ref',
  digest: '0123',
  firstStoredAtMs: 123_000,
  width: 800,
  height: 800,
  format: 'jpeg',
  hasAlpha: false,
  isWebReady: true,
};
const RECORD_OUTCOME: CacheOutcome = { kind: 'hit', ttlMs: 1, isCollapsed: false, isStored: false };
const ORIGINAL_OUTCOME: CacheOutcome = { kind: 'miss', ttlMs: 2, isCollapsed: false, isStored: true };

/** What the renderer is asked for, and what comes of it. */
async function getPicture(request: Partial<PictureRequest> = {}, original: Partial<Original> = {}) {
  const specs: PictureSpec[] = [];
  const ref = { kind: 'remote', key: 'ref', urls: [] } as const;
  const banners = createBannerService({
    channels: {
      findChannel: async () => ({
        channel: { channelId: CHANNEL_ID, avatar: ref, banner: null } as unknown as Channel,
        outcome: RECORD_OUTCOME,
      }),
    },
    originals: { get: async () => ({ value: { ...ORIGINAL, ...original }, outcome: ORIGINAL_OUTCOME }) },
    renderer: {
      async renditionOf(spec: PictureSpec) {
        specs.push(spec);
        return { etag: '"etag"' };
      },
    } as never,
  });
  const refs = [channelIdRef(CHANNEL_ID)];
  const all = { refs, variant: 'avatar', formats: ['webp'], width: undefined, height: undefined, quality: undefined };
  const picture = await banners.getPicture({ ...all, ...request } as PictureRequest);
  return { picture, spec: specs[0] as PictureSpec };
}

it.each<[Partial<PictureRequest>, string]>([
  [{}, 'plain'],
  [{ width: 800 }, 'plain'],
  [{ height: 800 }, 'plain'],
  [{ width: 4_096, height: 4_096 }, 'plain'],
  [{ quality: 82 }, 'plain'],
  [{ formats: ['png'], quality: 5 }, 'plain'],
  [{ width: 799 }, 'custom'],
  [{ height: 799 }, 'custom'],
  [{ width: 800, height: 400 }, 'custom'],
  [{ width: 400, height: 800 }, 'custom'],
  [{ quality: 81 }, 'custom'],
])('%o takes room of the %s pictures', async (request, fileClass) => {
  expect((await getPicture(request)).spec.fileClass).toBe(fileClass);
});

it('has the first accepted format, otherwise the format that suits the original', async () => {
  expect((await getPicture({ formats: ['avif', 'webp'] })).picture.format).toBe('avif');
  expect((await getPicture({ formats: [] })).picture.format).toBe('jpeg');
  expect((await getPicture({ formats: [] }, { hasAlpha: true })).picture.format).toBe('png');
});

it('has the age of its original, not of the record', async () => {
  const { picture } = await getPicture();
  expect(picture).toMatchObject({ channelId: CHANNEL_ID, lastModifiedMs: 123_000, outcome: ORIGINAL_OUTCOME });
});

it('that a channel does not have has the age of the record', async () => {
  await expect(getPicture({ variant: 'tv' })).rejects.toMatchObject({
    code: 'image_not_found',
    outcome: RECORD_OUTCOME,
  });
});

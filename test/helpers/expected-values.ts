import { expect } from 'vitest';
import type { Channel, SearchHit } from '../../src/domain/channel.ts';

/** The expected values of an answer in an `index.json`: those of a record or a search, an error, or the next request. */
export interface ExpectedValues {
  readonly [name: string]: unknown;
}

const RECORD_FIELDS = [
  'channelId',
  'title',
  'description',
  'customUrl',
  'publishedAt',
  'country',
  'subscriberCount',
  'viewCount',
  'videoCount',
] as const satisfies readonly (keyof Channel)[];

/** Asserts every expected value that is a field of the record; the panel's values go before the page's. */
export function expectRecord(channel: Channel, page: ExpectedValues, panel: ExpectedValues = {}): void {
  const expected = { ...page, ...panel };
  expectTexts(channel, expected);
  const { banner, avatar } = expectedPictures(expected);
  if (banner !== undefined) expect(channel.banner?.key ?? null, 'banner').toBe(banner);
  if (avatar !== undefined) expect(channel.avatar?.key, 'avatar').toBe(avatar);
}

/** The same of everything in a record that is not a picture; also of one that was answered as JSON. */
export function expectTexts(record: object, expected: ExpectedValues): void {
  const found = record as Record<string, unknown>;
  for (const field of RECORD_FIELDS) {
    if (field in expected) expect(found[field], field).toEqual(expected[field]);
  }
  if (hasTitles(expected.links)) {
    const links = expected.links.map(({ title, url }) => ({ title: title.trim(), url: new URL(url).href }));
    expect(found.links, 'links').toEqual(links);
  }
}

/** The upstream names of the originals: `null` if the channel has none, `undefined` if they are unknown. */
export function expectedPictures({ bannerBase, avatarBase, avatarUrl }: ExpectedValues) {
  const avatar = avatarBase ?? avatarUrl;
  return {
    banner: bannerBase as string | null | undefined,
    avatar: typeof avatar === 'string' ? avatar.split('=')[0] : undefined,
  };
}

/** A page's structured data lists targets only: they are no links of a record. */
function hasTitles(links: unknown): links is { title: string; url: string }[] {
  return Array.isArray(links) && links.every((link: object) => 'title' in link);
}

export function expectHits(hits: readonly SearchHit[], expected: ExpectedValues): void {
  expect(hits).toHaveLength(expected.count as number);
  const firstFive = (expected.firstFive ?? []) as object[];
  for (const [index, values] of firstFive.entries()) expect(hits[index]).toMatchObject(values);
}

const CODES: Readonly<Record<string, string>> = {
  not_found: 'channel_not_found',
  terminated: 'channel_not_found',
  could_not_tell: 'upstream_',
};

export async function expectError(answer: Promise<unknown>, expected: ExpectedValues): Promise<void> {
  const code = CODES[String(expected.error)];
  await expect(answer).rejects.toMatchObject({ name: 'AppError', code: expect.stringContaining(code ?? 'unknown') });
}

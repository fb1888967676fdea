import { describe, expect, test } from 'vitest';
import { latestChange } from '../lib/work.ts';
import { type Change, changeOfChannels, concernsEntry, createChanges, EVERYTHING, mergeChanges } from './changes.ts';

const [GONE, KEPT] = ['UCgone_________________A', 'UCkept_________________A'];
const CHANGE = changeOfChannels(new Set([GONE]));
const isOfGone = ({ channelIds }: Change) => channelIds !== 'all' && channelIds.has(GONE);

describe('changes', () => {
  test('match work that began before them, and no other work', () => {
    const changes = createChanges();
    const before = latestChange();
    expect(changes.hasSince(before, () => true)).toBe(false);
    changes.announce(CHANGE);
    const between = latestChange();
    changes.announce(changeOfChannels(new Set([KEPT])));
    expect([before, between, latestChange()].map((number) => changes.hasSince(number, isOfGone))).toEqual([
      ...[true, false, false],
    ]);
  });

  test('that were dropped match everything', () => {
    const changes = createChanges();
    const before = latestChange();
    for (let count = 0; count < 1_001; count += 1) changes.announce(CHANGE);
    expect(changes.hasSince(before, () => false)).toBe(true);
    expect(changes.hasSince(before + 1, () => false)).toBe(false);
    expect(changes.stats()).toMatchObject({ entries: 1_000, maxEntries: 1_000 });
  });

  test('are limited by the number of named channels too', () => {
    const changes = createChanges();
    const before = latestChange();
    const many = changeOfChannels(new Set(Array.from({ length: 150_000 }, (_, number) => `UC${number}`)));
    changes.announce(many);
    changes.announce(many);
    const { entries, bytes = 0, maxBytes = 0 } = changes.stats();
    expect([entries, bytes <= maxBytes]).toEqual([1, true]);
    expect(changes.hasSince(before, () => false)).toBe(true);
  });

  test('without a position are later than every position', () => {
    const changes = createChanges();
    const announced = changes.announce(CHANGE);
    expect(changes.hasBeyond(() => false, isOfGone)).toBe(true);
    announced.position = '5-0';
    expect(changes.hasBeyond((position) => position === '4-0', isOfGone)).toBe(false);
    expect(changes.hasBeyond((position) => position === '5-0', isOfGone)).toBe(true);
  });
});

test('merged changes remove everything that either removes', () => {
  const first: Change = {
    channelIds: new Set([GONE]),
    names: new Set(['handle:a']),
    searches: 'naming',
    includesImages: false,
  };
  const second: Change = {
    channelIds: new Set([KEPT]),
    names: new Set(['handle:b']),
    searches: 'empty',
    includesImages: true,
  };
  expect(mergeChanges(first, second)).toEqual({
    channelIds: new Set([GONE, KEPT]),
    names: new Set(['handle:a', 'handle:b']),
    searches: 'empty',
    includesImages: true,
  });
  expect(mergeChanges(first, EVERYTHING)).toMatchObject({ channelIds: 'all', searches: 'all', includesImages: true });
});

test('a channel ID is found anywhere in a key', () => {
  for (const key of [
    `channel1:${GONE}`,
    `original1:${GONE}:banner`,
    `search1:${GONE}`,
    `search1:youtube.com/channel/${GONE}`,
  ]) {
    expect([key, concernsEntry(CHANGE, key, [])]).toEqual([key, true]);
  }
  expect(concernsEntry(CHANGE, `search1:${GONE.toLowerCase()}`, [])).toBe(false);
});

import { describe, expect, test } from 'vitest';
import {
  type ChannelRecord,
  type ImageChoice,
  imageUrl,
  isRecord,
  throughInstance,
  usualWidth,
} from './image-choice.ts';

const BASE = 'https://img.pennant.example/UCPennantSample00000001A';
const RECORD = {
  channelId: 'UCPennantSample00000001A',
  title: 'A',
  bannerUrls: { tv: `${BASE}/tv`, avatar: 'https://img.pennant.example/api/banner/x?type=avatar&v=1', mobile: null },
} as unknown as ChannelRecord;
const CHOICE: ImageChoice = {
  variant: 'tv',
  format: 'auto',
  width: '',
  height: '',
  quality: '',
  fit: 'cover',
  background: '',
};

describe('the URL of an image', () => {
  test.each([
    [{}, `${BASE}/tv`],
    [{ variant: 'avatar' }, `${BASE}/avatar?v=1`],
    [{ format: 'avif', width: '640', height: '100', quality: '50' }, `${BASE}/tv.avif?width=640&height=100&quality=50`],
    [{ width: '600', height: '900', fit: 'contain' }, `${BASE}/tv?width=600&height=900&fit=contain`],
    [
      { width: '600', height: '900', fit: 'contain', background: 'ff8800' },
      `${BASE}/tv?width=600&height=900&fit=contain&background=ff8800`,
    ],
    // `fit` has an effect with both sides only, and `background` with padding only.
    [{ width: '600', height: '900', background: 'fff' }, `${BASE}/tv?width=600&height=900`],
    [{ width: '600', fit: 'contain' }, `${BASE}/tv?width=600`],
    // `quality` has no effect on PNG.
    [{ format: 'png', quality: '50' }, `${BASE}/tv.png`],
    [{ variant: 'mobile' }, undefined],
  ] as const)('for %j is %s', (changes, url) => expect(imageUrl(RECORD, { ...CHOICE, ...changes })).toBe(url));

  test('has the handle of a channel that has one', () => {
    const url = imageUrl({ ...RECORD, customUrl: '@Höhe.1' }, CHOICE);
    expect(url).toBe('https://img.pennant.example/@H%C3%B6he.1/tv');
  });

  test('is requested at the address of the instance', () => {
    expect(throughInstance('http://localhost:8080', `${BASE}/tv?width=9`)).toBe(
      'http://localhost:8080/UCPennantSample00000001A/tv?width=9',
    );
  });

  test('is 1280 pixels wide for a banner and 176 for an avatar', () => {
    expect([usualWidth('desktop'), usualWidth('avatar')]).toEqual(['1280', '176']);
  });
});

test('a document is a record if it has what the page needs', () => {
  expect([RECORD, { ...RECORD, title: 1 }, {}, null, 'text'].map(isRecord)).toEqual([true, false, false, false, false]);
});

import { expect, it } from 'vitest';
import { FORMATS } from '../domain/formats.ts';
import { encodedOriginalKey, formatOfImage, imageKey, optimizedImageKey, originalBytesKey } from './keys.ts';

it.each(FORMATS)('the key of an image names its format, %s, in every encoding', (format) => {
  const key = imageKey({
    channelId: 'UCkeys_________________A',
    digest: '0123',
    crop: { left: 0, top: 0, width: 9, height: 9 },
    output: { width: 9, height: 9 },
    format,
    quality: undefined,
  });
  const encoded = encodedOriginalKey(key);
  for (const made of [key, optimizedImageKey(key), encoded, optimizedImageKey(encoded)]) {
    expect(formatOfImage(made)).toBe(format);
  }
});

it('the key of an original names no format', () => {
  expect(formatOfImage(originalBytesKey('UCkeys_________________A', '0123'))).toBeUndefined();
});

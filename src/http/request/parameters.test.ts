import { expect, expectTypeOf, test } from 'vitest';
import type { Format } from '../../domain/formats.ts';
import type { Variant } from '../../domain/variants.ts';
import { IMAGE_QUERY, readQuery, SEARCH_QUERY } from './parameters.ts';

test('parameters are read as the types of their schema', () => {
  const { type, format, width, height } = readQuery(IMAGE_QUERY, { type: 'tv', format: 'jpg', width: '320' });
  expect({ type, format, width, height }).toEqual({ type: 'tv', format: 'jpg', width: 320, height: undefined });
  expectTypeOf(type).toEqualTypeOf<Variant | 'phone' | undefined>();
  expectTypeOf(format).toEqualTypeOf<Format | 'jpg' | undefined>();
  expectTypeOf(width).toEqualTypeOf<number | undefined>();
});

test('a parameter that is required or has a default is never undefined', () => {
  const { q, limit } = readQuery(SEARCH_QUERY, { q: ' kitchen ' });
  expect({ q, limit }).toEqual({ q: 'kitchen', limit: 20 });
  expectTypeOf(q).toEqualTypeOf<string>();
  expectTypeOf(limit).toEqualTypeOf<number>();
});

import { VARIANTS, type Variant } from '../../domain/variants.ts';

/** How picture URLs are written: form A (`/api/banner/{id}?type=tv`) or form B (`/{id}/tv`). */
export type UrlForm = 'api' | 'short';

/** Form B has path segments for these; the others are written as a `type`. */
const SHORT_SEGMENTS: ReadonlySet<Variant> = new Set<Variant>(['avatar', 'tv', 'mobile']);

export function pictureUrl(base: string, form: UrlForm, channelId: string, variant: Variant): string {
  const short = `${base}/${channelId}`;
  const root = form === 'api' ? `${base}/api/banner/${channelId}` : short;
  if (variant === 'default') return root;
  return form === 'short' && SHORT_SEGMENTS.has(variant) ? `${short}/${variant}` : `${root}?type=${variant}`;
}

/** Every variant's URL, `null` where the channel has no such picture. */
export function pictureUrls(
  base: string,
  form: UrlForm,
  channelId: string,
  has: { readonly banner: boolean; readonly avatar: boolean },
): Record<Variant, string | null> {
  const urls = VARIANTS.map((variant) => {
    const exists = variant === 'avatar' ? has.avatar : has.banner;
    return [variant, exists ? pictureUrl(base, form, channelId, variant) : null] as const;
  });
  return Object.fromEntries(urls) as Record<Variant, string | null>;
}

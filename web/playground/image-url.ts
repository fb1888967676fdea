import { type ImageKind, VARIANTS, type Variant, variantRow } from '../../src/domain/variants.ts';
import { OWN_WIDTH, type PageState } from './address.ts';
import type { ChannelRecord } from './service.ts';

/** One image of a channel. An empty value is the image's own or the service's default. */
export interface ImageChoice extends Pick<PageState, 'format' | 'width' | 'height' | 'quality' | 'fit' | 'background'> {
  readonly variant: Variant;
}

/** What the URL of an image needs of a record. */
type NamedChannel = Pick<ChannelRecord, 'channelId' | 'customUrl'>;

/** The widths that pages use most. */
const PRESET_WIDTHS = { banner: ['640', '1280', '2560'], avatar: ['48', '96', '176'] };
const USUAL_WIDTHS = { banner: '1280', avatar: '176' };

export function kindOf(variant: Variant): ImageKind {
  return variantRow(variant).kind;
}

export function presetWidths(variant: Variant): readonly string[] {
  return PRESET_WIDTHS[kindOf(variant)];
}

export function usualWidth(variant: Variant): string {
  return USUAL_WIDTHS[kindOf(variant)];
}

/** True if the channel has the image from which the variant is cut. */
export function hasImage({ bannerUrl, avatarUrl }: ChannelRecord, variant: Variant): boolean {
  return (kindOf(variant) === 'banner' ? bannerUrl : avatarUrl) !== null;
}

/** The image that the page's state chooses: at first the TV crop, or the avatar of a channel without a banner. */
export function choiceOf(record: ChannelRecord, state: PageState): ImageChoice {
  const usual = record.bannerUrl === null ? 'avatar' : 'tv';
  const variant = VARIANTS.find((name) => name === state.variant && hasImage(record, name)) ?? usual;
  const width = state.width === OWN_WIDTH ? '' : state.width || usualWidth(variant);
  return { ...state, variant, width };
}

/** The channel as a segment of a path: its handle, otherwise its ID. */
export function nameInPath({ customUrl, channelId }: NamedChannel): string {
  return customUrl?.startsWith('@') ? `@${encodeURIComponent(customUrl.slice(1))}` : channelId;
}

/**
 * The image's public URL in its short form. The form in the record contains "banner", which filter lists of ad blockers block.
 *
 * @param choice default: the usual image of the variant
 */
export function imageUrl(
  base: string,
  channel: NamedChannel,
  choice: Pick<ImageChoice, 'variant'> & Partial<ImageChoice>,
): string {
  const { variant, format, width = usualWidth(variant), height, quality, fit, background } = choice;
  const isPadded = fit === 'contain' && Boolean(width && height);
  return withParameters(`${base}/${nameInPath(channel)}/${variant}${format ? `.${format}` : ''}`, {
    width,
    height,
    quality: format === 'png' ? '' : quality,
    fit: isPadded ? fit : '',
    background: isPadded ? background : '',
  });
}

/** The URL with the parameters that are not empty. */
export function withParameters(url: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const written = new URL(url);
  for (const [name, value] of Object.entries(parameters)) if (value) written.searchParams.set(name, value);
  return written.href;
}

/** The text alternative of an image: "Banner of …" or "Avatar of …". */
export function altOf({ title }: ChannelRecord, variant: Variant): string {
  return `${kindOf(variant) === 'avatar' ? 'Avatar' : 'Banner'} of ${title}`;
}

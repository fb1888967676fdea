import type { Variant } from '../../src/domain/variants.ts';
import { imageUrl } from './image-url.ts';
import { type Loading, startLoading } from './loading.ts';
import type { ChannelRecord, LoadedImage, Service } from './service.ts';

/** One channel, and its images. Each is loaded once, when it is first shown. */
export interface ChannelImages {
  readonly record: ChannelRecord;
  /** The beginning of the URLs of the service. */
  readonly base: string;
  readonly at: (url: string) => Loading<LoadedImage>;
  /** The variant at its usual width, as the devices show it. */
  readonly usual: (variant: Variant) => Loading<LoadedImage>;
}

export function createChannelImages({ base, loadImage }: Service, record: ChannelRecord): ChannelImages {
  const images: Map<string, Loading<LoadedImage>> = new Map();

  function at(url: string): Loading<LoadedImage> {
    const image = images.get(url) ?? startLoading(() => loadImage(url));
    images.set(url, image);
    return image;
  }

  return { record, base, at, usual: (variant) => at(imageUrl(base, record, { variant })) };
}

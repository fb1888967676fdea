import { REFERENCE_BANNER, type Variant, variantRow } from '../../src/domain/variants.ts';
import type { ChannelImages } from './channel-images.ts';
import { usualWidth } from './image-url.ts';
import type { ChannelRecord } from './service.ts';

const DEVICES: readonly { readonly variant: Variant; readonly videos: number }[] = [
  { variant: 'tv', videos: 0 },
  { variant: 'desktop', videos: 4 },
  { variant: 'tablet', videos: 6 },
  { variant: 'mobile', videos: 3 },
];

interface DevicesProps {
  /** `undefined`: it is being loaded. */
  readonly record: ChannelRecord | undefined;
  /** `undefined`: the channel has no banner, or is being loaded. */
  readonly images: ChannelImages | undefined;
  /** Shown until the images of the service are there. */
  readonly bundledBanner: string | undefined;
  readonly avatar: string | undefined;
  readonly chosen: Variant | undefined;
  readonly onChoose: (variant: Variant) => void;
}

/** The banner on four devices. */
export function Devices({ record, images, bundledBanner, avatar, chosen, onChoose }: DevicesProps) {
  const isBare = record?.bannerUrl === null;
  return (
    <section class="shelf" aria-label="On four devices">
      {DEVICES.map(({ variant, videos }) => (
        <button
          key={variant}
          type="button"
          class={`device device-${variant}`}
          aria-pressed={variant === chosen}
          disabled={isBare}
          onClick={() => record && onChoose(variant)}
        >
          <span class="screen" aria-hidden="true">
            <span class="banner">
              {!isBare && <Banner variant={variant} images={images} bundledBanner={bundledBanner} />}
            </span>
            <span class="head">
              <span class="face">{avatar && <img src={avatar} alt="" />}</span>
              <span class="who">
                <b dir="auto">{record?.title}</b>
                <span dir="auto">{record?.customUrl}</span>
              </span>
            </span>
            <span class="videos">
              {Array.from({ length: videos }, (_, index) => (
                <i key={index} />
              ))}
            </span>
          </span>
          <span class="caption">{variantRow(variant).title}</span>
        </button>
      ))}
    </section>
  );
}

/** The part of the TV image that the device shows. A small banner may have another ratio: each device loads its own crop. */
function Banner({
  variant,
  images,
  bundledBanner,
}: Pick<DevicesProps, 'images' | 'bundledBanner'> & { variant: Variant }) {
  const tv = images?.usual('tv').state.value.value;
  const isSmall = tv !== undefined && tv.width < Number(usualWidth('tv'));
  const src = isSmall ? images?.usual(variant).state.value.value?.src : (tv?.src ?? bundledBanner);
  const share = isSmall ? 1 : REFERENCE_BANNER.width / variantRow(variant).visible.width;
  return src && <img src={src} alt="" style={{ width: `${share * 100}%` }} />;
}

import { REFERENCE_BANNER, VARIANT_PRESETS, type Variant } from '../../src/domain/variants.ts';
import { VARIANT_LABELS } from './image-url.ts';
import type { ChannelImages } from './images.ts';
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
  readonly images: ChannelImages | undefined;
  /** Shown until the images of the service are there. */
  readonly bundledBanner: string | undefined;
  readonly avatar: string | undefined;
  readonly chosen: Variant | undefined;
  readonly onChoose: (variant: Variant) => void;
}

/** The banner on four devices. */
export function Devices({ record, images, bundledBanner, avatar, chosen, onChoose }: DevicesProps) {
  const isBare = record !== undefined && record.bannerUrl === null;
  return (
    <section class={`shelf ${record ? '' : 'is-loading'} ${isBare ? 'is-bare' : ''}`} aria-label="On four devices">
      {DEVICES.map(({ variant, videos }) => (
        <button
          key={variant}
          type="button"
          class={`device device-${variant}`}
          aria-pressed={variant === chosen}
          disabled={isBare}
          onClick={() => record && onChoose(variant)}
        >
          <span class="body" aria-hidden="true">
            {variant === 'desktop' && <Dots class="window" count={3} />}
            <span class="screen">
              <span class="banner">{!isBare && <Banner {...{ variant, images, bundledBanner }} />}</span>
              <span class="head">
                <span class="face">{avatar && <img src={avatar} alt="" />}</span>
                <span class="who">
                  <span class="name" dir="auto">
                    {record?.title}
                  </span>
                  <span class="handle" dir="auto">
                    {record?.customUrl}
                  </span>
                </span>
              </span>
              {videos > 0 && <Dots class="videos" count={videos} />}
            </span>
          </span>
          {variant === 'tv' && <span class="stand" />}
          <span class="caption">{VARIANT_LABELS[variant]}</span>
        </button>
      ))}
    </section>
  );
}

function Dots({ count, ...attributes }: { class: string; count: number }) {
  return (
    <span {...attributes}>
      {Array.from({ length: count }, (_, index) => (
        <i key={index} />
      ))}
    </span>
  );
}

/** The part of the TV image that the device shows. A small banner may have another ratio: each device loads its own crop. */
function Banner({
  variant,
  images,
  bundledBanner,
}: Pick<DevicesProps, 'images' | 'bundledBanner'> & { variant: Variant }) {
  const tv = images?.usual('tv').state.value.value;
  const own = tv !== undefined && images?.isSmall(tv) ? images.usual(variant).state.value.value : undefined;
  const src = own?.src ?? (tv && images?.isSmall(tv) ? undefined : (tv?.src ?? bundledBanner));
  if (src === undefined) return null;
  const isCut = own === undefined && variant !== 'tv';
  const wholeWidth = `${(REFERENCE_BANNER.width / VARIANT_PRESETS[variant].visible.width) * 100}%`;
  return <img src={src} alt="" class={isCut ? 'cut' : ''} style={isCut ? { '--whole-width': wholeWidth } : {}} />;
}

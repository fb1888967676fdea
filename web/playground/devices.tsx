import { type Variant, variantRow } from '../../src/domain/variants.ts';
import { imageUrl } from './image-url.ts';
import type { ChannelProps } from './service.ts';

const DEVICES: readonly { readonly variant: Variant; readonly videos: number }[] = [
  { variant: 'tv', videos: 0 },
  { variant: 'desktop', videos: 4 },
  { variant: 'tablet', videos: 6 },
  { variant: 'mobile', videos: 3 },
];

interface DevicesProps extends Pick<ChannelProps, 'service' | 'record'> {
  /** `undefined`: the channel has none, or it is being loaded. */
  readonly avatar: string | undefined;
  readonly chosen: Variant;
  readonly onChoose: (variant: Variant) => void;
}

/** The banner on four devices. */
export function Devices({ service, record, avatar, chosen, onChoose }: DevicesProps) {
  const { title, customUrl, bannerUrl } = record;
  return (
    <section class="shelf" aria-label="On four devices">
      {DEVICES.map(({ variant, videos }) => {
        const { title: name, visible } = variantRow(variant);
        const url = imageUrl(service.base, record, { variant });
        const banner = bannerUrl === null ? undefined : service.image(url).state.value.value?.src;
        return (
          <button
            key={variant}
            type="button"
            class={`device device-${variant}`}
            aria-pressed={variant === chosen}
            disabled={bannerUrl === null}
            onClick={() => onChoose(variant)}
          >
            <span class="screen" aria-hidden="true">
              <span class="banner" style={{ aspectRatio: `${visible.width} / ${visible.height}` }}>
                {banner && <img src={banner} alt="" />}
              </span>
              <span class="head">
                <span class="face">{avatar && <img src={avatar} alt="" />}</span>
                <span class="who">
                  <b dir="auto">{title}</b>
                  <span dir="auto">{customUrl}</span>
                </span>
              </span>
              <span class="videos">
                {Array.from({ length: videos }, (_, index) => (
                  <i key={index} />
                ))}
              </span>
            </span>
            <span class="caption">{name}</span>
          </button>
        );
      })}
    </section>
  );
}

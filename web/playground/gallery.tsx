import type { PageAddress } from './address.ts';
import { ChannelLink } from './channel-link.tsx';
import type { ExampleChannel } from './service.ts';

/** Small copies, which cost no requests to the service. */
export interface BundledImages {
  readonly banner: string | undefined;
  readonly avatar: string;
}

/**
 * The images of the sample channels are part of the page, so that they are there at once; a test compares the list with
 * samples/channels.ndjson.
 */
const SAMPLES: Readonly<Record<string, { readonly file: string; readonly hasBanner?: boolean }>> = {
  UCPennantSample00000001A: { file: 'pennant' },
  UCPennantSample00000002A: { file: 'lantern', hasBanner: false },
  UCPennantSample00000003A: { file: 'saltmarrow' },
  UCPennantSample00000004A: { file: 'fernwick' },
  UCPennantSample00000005A: { file: 'hoehenkamm' },
  UCPennantSample00000006A: { file: 'ninth-tide' },
  UCPennantSample00000007A: { file: 'copper-loop' },
  UCPennantSample00000008A: { file: 'nightglass' },
};

/** The addresses of a sample channel's images in this page; `undefined` for any other channel. */
export function bundledImages(channelId: string | undefined): BundledImages | undefined {
  const sample = SAMPLES[channelId ?? ''];
  if (sample === undefined) return undefined;
  const { file, hasBanner = true } = sample;
  return { banner: hasBanner ? `gallery/${file}.webp` : undefined, avatar: `gallery/${file}-avatar.webp` };
}

/** Channels of the service, one link each. */
export function Gallery({ address, examples }: { address: PageAddress; examples: readonly ExampleChannel[] }) {
  if (examples.length === 0) return null;
  return (
    <section class="gallery stack" aria-labelledby="gallery-heading">
      <h2 id="gallery-heading">Start with one of these channels</h2>
      <ul class="samples">
        {examples.map(({ channelId, title, handle }) => (
          <li key={channelId}>
            <ChannelLink class="card sample" address={address} channel={handle ?? channelId}>
              <Images of={bundledImages(channelId)} />
              <span class="sample-text">
                <b>{title}</b>
                <span class="muted">{handle ?? channelId}</span>
              </span>
            </ChannelLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Images({ of }: { of: BundledImages | undefined }) {
  if (of === undefined) return null;
  return (
    <>
      <span class="sample-banner muted">
        {of.banner ? <img src={of.banner} width={560} height={315} alt="" loading="lazy" /> : 'No banner'}
      </span>
      <span class="face">
        <img src={of.avatar} width={96} height={96} alt="" loading="lazy" />
      </span>
    </>
  );
}

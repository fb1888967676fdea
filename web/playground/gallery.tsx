import type { ExampleChannel } from '../../src/domain/channel.ts';
import { searchOf } from './address.ts';

/** Small copies of a sample channel's images. They are part of the page, so that they are there at once. */
interface BundledImages {
  readonly banner: string | undefined;
  readonly avatar: string;
}

/** @returns `undefined` for a channel of the operator's */
export function bundledImages({ channelId, hasBanner }: ExampleChannel): BundledImages | undefined {
  if (!channelId.startsWith('UCPennantSample')) return undefined;
  const path = `gallery/${channelId}`;
  return { banner: hasBanner ? `${path}-banner.webp` : undefined, avatar: `${path}-avatar.webp` };
}

/** Channels of the service, one link each. */
export function Gallery({ examples }: { examples: readonly ExampleChannel[] }) {
  if (examples.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="gallery-heading">
      <h2 id="gallery-heading">Start with one of these channels</h2>
      <ul class="samples">
        {examples.map((channel) => (
          <Example key={channel.channelId} of={channel} />
        ))}
      </ul>
    </section>
  );
}

function Example({ of: channel }: { of: ExampleChannel }) {
  const name = channel.handle ?? channel.channelId;
  const images = bundledImages(channel);
  return (
    <li>
      <a class="card sample" href={searchOf({ channel: name })}>
        {images && (
          <>
            <span class="sample-banner muted">
              {images.banner ? <img src={images.banner} width={560} height={315} alt="" loading="lazy" /> : 'No banner'}
            </span>
            <span class="face">
              <img src={images.avatar} width={96} height={96} alt="" loading="lazy" />
            </span>
          </>
        )}
        <span class="sample-text">
          <b>{channel.title}</b>
          <span class="muted">{name}</span>
        </span>
      </a>
    </li>
  );
}

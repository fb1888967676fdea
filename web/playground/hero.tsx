import { CopiedUrl } from '../parts/copy-button.tsx';
import { bundledImages } from './gallery.tsx';
import { imageUrl } from './image-url.ts';
import type { Service } from './service.ts';

/** The URL of an image and the image, of a sample channel. Without samples there is none. Empty until the service is known. */
export function Hero({ service }: { service: Service | undefined }) {
  const example = service?.examples.find((channel) => bundledImages(channel)?.banner);
  if (service !== undefined && example === undefined) return null;
  const channel = example && { ...example, customUrl: example.handle };
  const url = service && channel && imageUrl(service.base, channel, { variant: 'tv', width: '' });
  const src = example && bundledImages(example)?.banner;
  return (
    <figure class="hero stack tight">
      <figcaption class="muted">The URL of this image:</figcaption>
      <CopiedUrl id="hero-url" url={url ?? ''} />
      <div class="stage">
        {src && <img id="hero-image" src={src} alt={`Banner of ${example?.title}`} width={1280} height={720} />}
      </div>
    </figure>
  );
}

import { CopiedUrl } from '../parts/copy-button.tsx';
import { bundledImages } from './gallery.tsx';
import { imageUrl } from './image-url.ts';
import { useLoading } from './loading.ts';
import { Notice } from './notice.tsx';
import type { Service } from './service.ts';

/** A URL of the service and its image, for the first channel that has a banner. Empty until the service is known. */
export function Hero({ service }: { service: Service | undefined }) {
  const example = service?.examples.find(({ hasBanner }) => hasBanner);
  const bundled = bundledImages(example?.channelId)?.banner;
  const channel = example && { ...example, customUrl: example.handle };
  const url = service && channel && imageUrl(service.base, channel, { variant: 'tv', width: '' });
  const loading = useLoading(bundled === undefined ? url : undefined, (signal) =>
    (service as Service).loadImage(url as string, signal),
  );
  const src = bundled ?? loading?.state.value.value?.src;
  if (service !== undefined && example === undefined) return null;
  return (
    <figure class="hero stack tight needs-script">
      <figcaption class="muted">The URL of this image:</figcaption>
      <CopiedUrl id="hero-url" url={url ?? ''} />
      <div class="stage">
        {src && <img id="hero-image" src={src} alt={`Banner of ${example?.title}`} width={1280} height={720} />}
        <Notice of={loading} />
      </div>
    </figure>
  );
}

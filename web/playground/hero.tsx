import { useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy-button.tsx';
import { bundledImages } from './gallery.tsx';
import { imageUrl } from './image-url.ts';
import { Problem, useLoading } from './loading.ts';
import { Notice } from './notice.tsx';
import type { Service } from './service.ts';

/** A URL of the service that the visitor can change, and its image. Empty until the service is known. */
export function Hero({ service }: { service: Service | undefined }) {
  const example = service?.examples.find(({ hasBanner }) => hasBanner);
  const first =
    service && example
      ? imageUrl(service.origin, { ...example, customUrl: example.handle }, { variant: 'tv', width: '' })
      : '';
  const [typed, setTyped] = useState<string>();
  const url = typed ?? first;
  const bundled = typed === undefined ? bundledImages(example?.channelId)?.banner : undefined;
  const loading = useLoading(url === '' || bundled !== undefined ? undefined : url, async (signal) => {
    if (URL.parse(url)?.origin === service?.origin) return (service as Service).loadImage(url, signal);
    throw new Problem({ title: 'Another server', detail: `Enter a URL that begins with ${service?.origin}/` });
  });
  const image = loading?.state.value.value;

  // A textarea, because a phone would hide the end of the URL in an input. Enter would add a line.
  function enter(event: KeyboardEvent) {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    setTyped((event.currentTarget as HTMLTextAreaElement).value.trim());
  }

  return (
    <form class="hero needs-script" hidden={service !== undefined && example === undefined}>
      <label for="hero-url">Change the URL of this image:</label>
      <div class="url-field">
        <textarea
          id="hero-url"
          rows={1}
          inputmode="url"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="go"
          value={url}
          onKeyDown={enter}
          onChange={(event) => setTyped(event.currentTarget.value.trim())}
        />
        <CopyButton label="Copy URL" text={url} />
      </div>
      <div class="stage">
        {(image ?? bundled) && (
          <img id="hero-image" src={image?.src ?? bundled} alt="The URL’s response" width={1280} height={720} />
        )}
        <Notice of={loading} />
      </div>
    </form>
  );
}

import { element, isPlainClick } from './dom.ts';

export interface ExampleChannel {
  readonly channelId: string;
  readonly title: string;
  readonly handle: string | null;
  readonly hasBanner: boolean;
}

/** Small copies, which cost no requests to the instance. */
export interface BundledImages {
  readonly banner: string | undefined;
  readonly avatar: string;
}

/** Cards whose images are not loaded lazily while the gallery is on the screen. */
const ON_FIRST_SCREEN = 4;
const MAX_WAIT_MS = 20_000;

/**
 * The images of the sample channels are part of the page, so that they cost no requests; a test compares the list with
 * samples/channels.ndjson.
 */
const SAMPLES: Readonly<Record<string, { file: string; hasBanner?: boolean }>> = {
  UCPennantSample00000001A: { file: 'pennant' },
  UCPennantSample00000002A: { file: 'lantern', hasBanner: false },
  UCPennantSample00000003A: { file: 'saltmarrow' },
  UCPennantSample00000004A: { file: 'fernwick' },
  UCPennantSample00000005A: { file: 'hoehenkamm' },
  UCPennantSample00000006A: { file: 'ninth-tide' },
  UCPennantSample00000007A: { file: 'copper-loop' },
  UCPennantSample00000008A: { file: 'nightglass' },
};

interface GalleryDeps {
  readonly channels: () => readonly ExampleChannel[];
  /** The page's address for a channel. */
  readonly hrefOf: (handle: string) => string;
  readonly onChoose: (handle: string) => void;
}

/** Channels of the instance, each a link. */
export function createGallery(list: HTMLElement, { channels, hrefOf, onChoose }: GalleryDeps) {
  function card({ channelId, title, handle }: ExampleChannel, index: number) {
    const name = handle ?? channelId;
    const bundled = bundledImages(channelId);
    const link = element(
      'a',
      { class: 'sample', href: hrefOf(name) },
      ...(bundled === undefined ? [] : images(bundled, index >= ON_FIRST_SCREEN || !list.checkVisibility())),
      element(
        'span',
        { class: 'sample-text' },
        element('b', {}, title),
        element('span', { class: 'sample-handle' }, name),
      ),
    );
    link.addEventListener('click', (event) => {
      if (!isPlainClick(event)) return;
      event.preventDefault();
      onChoose(name);
    });
    return element('li', {}, link);
  }

  return {
    /** Writes the links again when the channels or the instance have changed. */
    update() {
      list.replaceChildren(...channels().map(card));
    },
  };
}

/** Some channels of the instance that the page belongs to; none if the page is on another web host. */
export async function loadChannels(): Promise<readonly ExampleChannel[]> {
  try {
    const response = await fetch('channels.json', { signal: AbortSignal.timeout(MAX_WAIT_MS) });
    return response.ok ? (await response.json()).channels : [];
  } catch {
    // No response in time, or no JSON: some hosts respond to every path with a page.
    return [];
  }
}

/** The addresses of a sample channel's images in this page; `undefined` for any other channel. */
export function bundledImages(channelId: string): BundledImages | undefined {
  const sample = SAMPLES[channelId];
  if (sample === undefined) return undefined;
  const { file, hasBanner = true } = sample;
  return { banner: hasBanner ? `gallery/${file}.webp` : undefined, avatar: `gallery/${file}-avatar.webp` };
}

function images({ banner, avatar }: BundledImages, isLazy: boolean) {
  const shown = banner === undefined ? 'No banner' : image(banner, 560, 315, isLazy);
  return [
    element('span', { class: 'sample-banner' }, shown),
    element('span', { class: 'sample-face' }, image(avatar, 96, 96, isLazy)),
  ];
}

function image(src: string, width: number, height: number, isLazy: boolean) {
  return element('img', { src, width, height, alt: '', loading: isLazy && 'lazy' });
}

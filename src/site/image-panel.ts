import type { RequestDeps } from './api.ts';
import { createComparison } from './comparison.ts';
import { createCopyButton } from './copy.ts';
import { element, find } from './dom.ts';
import { altOf, type ChannelRecord, type ImageChoice, imageUrl, kindOf, VARIANT_CHOICES } from './image-choice.ts';
import { createImageOptions } from './image-options.ts';
import { type ImageSnippetInput, imageSnippets } from './image-snippets.ts';
import { loadImage } from './load-image.ts';
import { formatBytes, formatDuration } from './numbers.ts';
import { createRegion } from './region.ts';
import { createSnippetBox } from './snippet-box.ts';

export interface ShownImage {
  readonly choice: ImageChoice;
  /** Of the bytes in this page. */
  readonly url: string;
  /** In pixels. */
  readonly width: number;
}

interface ImagePanelDeps extends RequestDeps {
  readonly onChoice: (choice: ImageChoice, isTyped: boolean) => void;
  readonly onImage: (image: ShownImage) => void;
}

/** Variant, format and size, the instance's image for them, and the snippets. */
export function createImagePanel(root: HTMLElement, { onChoice, onImage, ...deps }: ImagePanelDeps) {
  const preview = find('#preview', HTMLImageElement, root);
  const figure = find('.preview', HTMLElement, root);
  const facts = find('#facts', HTMLElement, root);
  const download = find('#download', HTMLAnchorElement, root);
  const urlRow = find('#image-url-row', HTMLElement, root);
  const url = find('#image-url code', HTMLElement, root);
  urlRow.append(
    createCopyButton(
      'Copy URL',
      () => url.textContent ?? '',
      () => url,
    ),
  );
  const snippetArea = find('#image-snippets', HTMLElement, root);
  const region = createRegion(find('#image-notice', HTMLElement, root), deps.budget);
  const snippets = createSnippetBox<ImageSnippetInput>(snippetArea, {
    id: 'image-snippet',
    label: 'Copy the image as',
  });
  const comparison = createComparison(find('#comparison', HTMLElement, root), deps);
  const options = createImageOptions(find('#options', HTMLFormElement, root), {
    onChange(isTyped) {
      onChoice(options.choice(), isTyped);
      load();
    },
    onInvalid: () =>
      region.say(
        'Width and height are whole numbers from 1 to 4096, quality from 1 to 100, the background three or six hex digits.',
      ),
  });
  let record: ChannelRecord | undefined;
  let objectUrls: string[] = [];

  function writeSnippets(size: { width: number; height: number } | undefined) {
    if (record === undefined) return;
    const choice = options.choice();
    const shown = record;
    const ownUrl = imageUrl(shown, choice);
    urlRow.hidden = ownUrl === undefined;
    snippetArea.hidden = ownUrl === undefined;
    comparison.show(ownUrl === undefined ? undefined : { record: shown, choice });
    if (ownUrl === undefined) return;
    url.textContent = ownUrl;
    snippets.show(imageSnippets(choice.variant), {
      choice,
      urlOf: (changes) => imageUrl(shown, { ...choice, ...changes }) ?? ownUrl,
      alt: altOf(shown, choice.variant),
      size,
    });
  }

  /** Removes what belongs to the previous image. */
  function clearImage() {
    figure.classList.remove('is-loading');
    preview.hidden = true;
    preview.removeAttribute('src');
    preview.alt = '';
    facts.replaceChildren();
    download.hidden = true;
  }

  function load() {
    if (record === undefined) return;
    const shown = record;
    const choice = options.choice();
    const publicUrl = imageUrl(shown, choice);
    writeSnippets(undefined);
    if (publicUrl === undefined) {
      clearImage();
      const isBare = Object.values(shown.bannerUrls).every((url) => url === null);
      return region.say(
        isBare ? 'This channel has no banner and no avatar.' : `This channel has no ${kindOf(choice.variant)}.`,
      );
    }
    figure.classList.add('is-loading');
    const label = VARIANT_CHOICES.find(({ variant }) => variant === choice.variant)?.label;
    void region.run({
      label: `Loading the image: ${label}.`,
      verb: 'Load',
      load: (options) => loadImage(deps, publicUrl, options),
      show: (loaded) => showImage(shown, choice, loaded),
      fail() {
        clearImage();
        return [];
      },
      retry: load,
    });
  }

  function showImage(
    shown: ChannelRecord,
    choice: ImageChoice,
    { response: { headers, body, durationMs, isFromBrowser }, url, size }: Awaited<ReturnType<typeof loadImage>>,
  ) {
    objectUrls.push(url);
    figure.classList.remove('is-loading');
    Object.assign(preview, { src: url, ...size, hidden: false });
    preview.alt = altOf(shown, choice.variant);
    const format = body.type.replace('image/', '').toUpperCase();
    facts.replaceChildren(
      fact('Size', `${size.width} × ${size.height}`),
      fact('Format', format === 'WEBP' ? 'WebP' : format),
      fact('Bytes', formatBytes(body.size)),
      // A response from the browser's cache took no time, and says nothing about the instance now.
      ...(isFromBrowser
        ? [fact('Cache', 'browser')]
        : [fact('Time', formatDuration(durationMs)), fact('Cache', cacheWord(headers.get('cache-status')))]),
    );
    download.href = url;
    download.download = `${shown.channelId}-${choice.variant}.${body.type === 'image/jpeg' ? 'jpg' : body.type.slice(6)}`;
    download.hidden = false;
    writeSnippets(size);
    onImage({ choice, url, width: size.width });
  }

  return {
    /** Shows another channel with this choice; `load` requests the image. */
    show(shown: ChannelRecord, choice: ImageChoice) {
      region.end();
      for (const url of objectUrls) URL.revokeObjectURL(url);
      objectUrls = [];
      record = shown;
      clearImage();
      options.show(shown, choice);
      writeSnippets(undefined);
    },

    load,

    /** Shows another choice of the same channel. */
    apply(choice: ImageChoice) {
      if (record === undefined) return;
      options.show(record, choice);
      load();
    },

    choose: options.choose,
    choice: options.choice,
  };
}

function fact(label: string, value: string) {
  return element('div', {}, element('dt', {}, label), element('dd', {}, value));
}

/** @param cacheStatus RFC 9211 */
function cacheWord(cacheStatus: string | null) {
  return /;\s*hit/.test(cacheStatus ?? '') ? 'hit' : 'miss';
}

import { REFERENCE_BANNER, VARIANT_PRESETS, type Variant } from '../domain/variants.ts';
import { element } from './dom.ts';
import type { BundledImages } from './gallery.ts';
import type { ChannelRecord } from './image-choice.ts';

interface Device {
  readonly button: HTMLElement;
  readonly banner: HTMLElement;
  readonly face: HTMLElement;
  readonly name: HTMLElement;
  readonly handle: HTMLElement;
}

const DEVICES = [
  { variant: 'tv', label: 'TV', videos: 0 },
  { variant: 'desktop', label: 'Desktop', videos: 4 },
  { variant: 'tablet', label: 'Tablet', videos: 6 },
  { variant: 'mobile', label: 'Phone', videos: 3 },
] as const;

export interface Shelf {
  /**
   * @param record `undefined`: it is being loaded
   * @param bundled shown until the images of the instance are there
   */
  readonly show: (record: ChannelRecord | undefined, bundled?: BundledImages) => void;
  readonly showAvatar: (url: string) => void;
  /** Shows the TV image, and parts of it on the devices that have no image of the instance yet. */
  readonly showOnAll: (url: string) => void;
  /** Shows a device's own image. */
  readonly showImage: (variant: Variant, url: string) => void;
  /** Devices that have no image of their own. */
  readonly missing: () => readonly Variant[];
  /** Marks a device. */
  readonly choose: (variant: Variant | undefined) => void;
}

/**
 * The banner on four devices. Usually one image serves all of them: the other frames show their part of the TV image
 * until they get their own.
 */
export function createShelf(container: HTMLElement, { onChoose }: { onChoose: (variant: Variant) => void }): Shelf {
  const devices: Map<Variant, Device> = new Map();
  for (const { variant, label, videos } of DEVICES) {
    const device = createDevice(variant, label, videos, () => onChoose(variant));
    devices.set(variant, device);
    container.append(device.button);
  }

  function show(record: ChannelRecord | undefined, bundled?: BundledImages) {
    container.classList.toggle('is-loading', record === undefined);
    container.classList.toggle('is-bare', record !== undefined && record.bannerUrl === null);
    for (const { button, banner, face, name, handle } of devices.values()) {
      banner.replaceChildren();
      face.replaceChildren();
      name.textContent = record?.title ?? '';
      handle.textContent = record?.customUrl ?? '';
      button.setAttribute('aria-disabled', String((record?.bannerUrl ?? null) === null));
    }
    if (bundled?.banner !== undefined) showOnAll(bundled.banner, 'placeholder');
    if (bundled !== undefined) showAvatar(bundled.avatar);
  }

  function showAvatar(url: string) {
    for (const { face } of devices.values()) face.replaceChildren(image(url));
  }

  function showOnAll(url: string, className = '') {
    for (const { variant } of DEVICES) {
      const banner = devices.get(variant)?.banner;
      if (banner === undefined || banner.querySelector('img:not(.placeholder)') !== null) continue;
      const shown = image(url);
      shown.className = className;
      if (variant !== 'tv') {
        shown.classList.add('cut');
        shown.style.setProperty(
          '--whole-width',
          `${(REFERENCE_BANNER.width / VARIANT_PRESETS[variant].visible.width) * 100}%`,
        );
      }
      banner.replaceChildren(shown);
    }
  }

  return {
    show,
    showAvatar,
    showOnAll,

    showImage(variant, url) {
      devices.get(variant)?.banner.replaceChildren(image(url));
    },

    missing: () =>
      DEVICES.map(({ variant }) => variant).filter(
        (variant) => devices.get(variant)?.banner.querySelector('img:not(.cut, .placeholder)') === null,
      ),

    choose(variant) {
      for (const [each, { button }] of devices) button.setAttribute('aria-pressed', String(each === variant));
    },
  };
}

function createDevice(variant: Variant, label: string, videos: number, onclick: () => void): Device {
  const banner = element('span', { class: 'banner' });
  const face = element('span', { class: 'face' });
  const name = element('span', { class: 'name', dir: 'auto' });
  const handle = element('span', { class: 'handle', dir: 'auto' });
  const head = element('span', { class: 'head' }, face, element('span', { class: 'who' }, name, handle));
  const thumbnails = Array.from({ length: videos }, () => element('i'));
  const page = videos === 0 ? null : element('span', { class: 'videos' }, ...thumbnails);
  const screen = element('span', { class: 'screen' }, banner, head, page);
  const bar = element('span', { class: 'window' }, element('i'), element('i'), element('i'));
  const body = element('span', { class: 'body', 'aria-hidden': 'true' }, variant === 'desktop' ? bar : null, screen);
  const button = element(
    'button',
    {
      type: 'button',
      class: `device device-${variant}`,
      'aria-pressed': 'false',
      // Not `disabled`: the button keeps its place in the tab order while a channel is loaded.
      'aria-disabled': 'true',
      onclick: () => button.getAttribute('aria-disabled') === 'false' && onclick(),
    },
    body,
    variant === 'tv' ? element('span', { class: 'stand' }) : null,
    element('span', { class: 'caption' }, label),
  );
  return { button, banner, face, name, handle };
}

function image(url: string) {
  return element('img', { src: url, alt: '' }) as HTMLImageElement;
}

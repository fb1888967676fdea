import { element } from './dom.js';

/**
 * @typedef {import('./pictures.js').Variant} Variant
 * @typedef {import('./pictures.js').ChannelRecord} ChannelRecord
 * @typedef {object} Device
 * @property {HTMLElement} button
 * @property {HTMLElement} banner
 * @property {HTMLElement} face
 * @property {HTMLElement} name
 * @property {HTMLElement} handle
 */

/** Width of the visible part of a banner that is 2560 pixels wide (docs/decisions.md). */
const DEVICES = /** @type {const} */ ([
  { variant: 'tv', label: 'TV', visibleWidth: 2560, videos: 0 },
  { variant: 'desktop', label: 'Desktop', visibleWidth: 2560, videos: 4 },
  { variant: 'tablet', label: 'Tablet', visibleWidth: 1855, videos: 6 },
  { variant: 'mobile', label: 'Phone', visibleWidth: 1546, videos: 3 },
]);

/**
 * The banner on four devices. Only one picture is fetched for all of them: the other frames show the part of the TV
 * picture that they would be cut to, until they get their own.
 *
 * @param {HTMLElement} container
 * @param {{ onChoose: (variant: Variant) => void }} deps
 */
export function createShelf(container, { onChoose }) {
  /** @type {Map<Variant, Device>} */
  const devices = new Map();
  for (const { variant, label, videos } of DEVICES) {
    const device = createDevice(variant, label, videos, () => onChoose(variant));
    devices.set(variant, device);
    container.append(device.button);
  }

  /** @param {ChannelRecord} record */
  function show(record) {
    for (const { banner, face, name, handle } of devices.values()) {
      banner.replaceChildren();
      face.replaceChildren();
      name.textContent = record.title;
      handle.textContent = record.customUrl ?? '';
    }
    for (const { button } of devices.values()) button.setAttribute('aria-disabled', String(record.bannerUrl === null));
  }

  return {
    show,

    /** @param {string} url */
    showAvatar(url) {
      for (const { face } of devices.values()) face.replaceChildren(picture(url));
    },

    /**
     * Shows a device's own picture; the TV's is shown, cut, on those that have none yet.
     *
     * @param {Variant} variant
     * @param {string} url
     * @param {boolean} isWholeBanner true: the other devices' parts can be cut from it
     */
    showPicture(variant, url, isWholeBanner) {
      devices.get(variant)?.banner.replaceChildren(picture(url));
      if (variant !== 'tv' || !isWholeBanner) return;
      for (const { variant: other, visibleWidth } of DEVICES) {
        const banner = devices.get(other)?.banner;
        if (banner === undefined || banner.childElementCount > 0) continue;
        const cut = picture(url);
        cut.className = 'cut';
        cut.style.setProperty('--whole-width', `${(2560 / visibleWidth) * 100}%`);
        banner.append(cut);
      }
    },

    /** @param {Variant} variant */
    choose(variant) {
      for (const [each, { button }] of devices) button.setAttribute('aria-pressed', String(each === variant));
    },
  };
}

/**
 * @param {Variant} variant
 * @param {string} label
 * @param {number} videos
 * @param {() => void} onclick
 * @returns {Device}
 */
function createDevice(variant, label, videos, onclick) {
  const banner = element('span', { class: 'banner' });
  const face = element('span', { class: 'face' });
  const name = element('span', { class: 'name' });
  const handle = element('span', { class: 'handle' });
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
      // Not `disabled`: the shelf scrolls on small screens, and the keyboard needs a way in.
      'aria-disabled': 'true',
      onclick: () => button.getAttribute('aria-disabled') === 'false' && onclick(),
    },
    body,
    variant === 'tv' ? element('span', { class: 'stand' }) : null,
    element('span', { class: 'caption' }, label),
  );
  return { button, banner, face, name, handle };
}

/** @param {string} url */
function picture(url) {
  return /** @type {HTMLImageElement} */ (element('img', { src: url, alt: '' }));
}

import { element } from './dom.js';

/**
 * The channels that a new instance has. Titles and pictures are part of the page, so that it costs no requests; a test
 * compares the list with samples/channels.ndjson.
 */
export const SAMPLES = [
  { handle: '@pennantsample', title: 'Pennant Sample', file: 'pennant' },
  { handle: '@saltmarrowkitchen', title: 'Saltmarrow Kitchen', file: 'saltmarrow' },
  { handle: '@nightglass', title: 'Nightglass', file: 'nightglass' },
  { handle: '@fernwick.works', title: 'Fernwick Works', file: 'fernwick' },
  { handle: '@höhenkamm', title: 'Höhenkamm', file: 'hoehenkamm' },
  { handle: '@ninthtide', title: 'Ninth Tide', file: 'ninth-tide' },
  { handle: '@copperloop', title: 'Copper Loop', file: 'copper-loop' },
  { handle: '@lanternhours', title: 'Lantern Hours', file: 'lantern', hasBanner: false },
];

/**
 * The sample channels, each a link.
 *
 * @param {HTMLElement} list
 * @param {object} deps
 * @param {(handle: string) => string} deps.addressOf the page's address for a channel
 * @param {(handle: string) => void} deps.onChoose
 */
export function createGallery(list, { addressOf, onChoose }) {
  const links = SAMPLES.map(({ handle, title, file, hasBanner = true }) => {
    const banner = hasBanner ? picture(`gallery/${file}.webp`, 560, 315) : 'No banner';
    const link = element(
      'a',
      { class: 'sample', href: addressOf(handle) },
      element('span', { class: 'sample-banner' }, banner),
      element('span', { class: 'sample-face' }, picture(`gallery/${file}-avatar.webp`, 96, 96)),
      element(
        'span',
        { class: 'sample-text' },
        element('b', {}, title),
        element('span', { class: 'sample-handle' }, handle),
      ),
    );
    link.addEventListener('click', (event) => {
      // Other clicks open a tab or a window.
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      onChoose(handle);
    });
    list.append(element('li', {}, link));
    return { handle, link };
  });

  return {
    /** Writes the links again, because another instance is asked. */
    update() {
      for (const { handle, link } of links) link.setAttribute('href', addressOf(handle));
    },
  };
}

/**
 * @param {string} src
 * @param {number} width
 * @param {number} height
 */
function picture(src, width, height) {
  return element('img', { src, width, height, alt: '', loading: 'lazy' });
}

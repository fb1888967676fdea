import { element } from './dom.js';
import { formatCount, formatCountry, formatDate } from './numbers.js';

/** @typedef {import('./pictures.js').ChannelRecord} ChannelRecord */

/**
 * The record laid out for people, with the JSON under it.
 *
 * @param {HTMLElement} container
 */
export function createRecordView(container) {
  /** @type {HTMLElement | undefined} */
  let face;

  return {
    /** @param {ChannelRecord} record */
    show(record) {
      face = element('span', { class: 'face' });
      container.replaceChildren(
        element(
          'header',
          {},
          face,
          element(
            'div',
            {},
            element('h2', { id: 'record-title' }, record.title),
            element('p', { class: 'muted' }, record.customUrl ?? 'no handle known'),
          ),
        ),
        element(
          'dl',
          { class: 'counts' },
          count('Subscribers', record.subscriberCount),
          count('Views', record.viewCount),
          count('Videos', record.videoCount),
        ),
        descriptionOf(record),
        detailsOf(record),
        jsonOf(record),
      );
    },

    /** @param {string} url */
    showAvatar(url) {
      face?.replaceWith(element('img', { class: 'face', src: url, alt: '', width: 60, height: 60 }));
    },
  };
}

/**
 * @param {string} label
 * @param {string | null} value
 */
function count(label, value) {
  const shown = value === null ? unknown('hidden') : element('dd', {}, formatCount(value));
  return element('div', {}, element('dt', {}, label), shown);
}

/** @param {string} text */
function unknown(text) {
  return element('dd', { class: 'unknown' }, text);
}

/** @param {ChannelRecord} record */
function descriptionOf({ description }) {
  if (description === null || description === '') return element('p', { class: 'muted' }, 'No description.');
  return element('p', { class: 'description' }, description);
}

/** @param {ChannelRecord} record */
function detailsOf({ publishedAt, country, channelId, links }) {
  const since =
    publishedAt === null
      ? null
      : element('time', { datetime: publishedAt, title: publishedAt }, formatDate(publishedAt));
  const listed = links.map(({ title, url }) => element('li', {}, outward(url, title)));
  return element(
    'dl',
    { class: 'details' },
    element('dt', {}, 'Since'),
    since === null ? unknown('unknown') : element('dd', {}, since),
    element('dt', {}, 'Country'),
    country === null ? unknown('not given') : element('dd', {}, formatCountry(country)),
    element('dt', {}, 'ID'),
    element('dd', {}, element('code', {}, channelId)),
    element('dt', {}, 'Links'),
    listed.length === 0 ? unknown('none') : element('dd', {}, element('ul', { class: 'links' }, ...listed)),
  );
}

/**
 * A link that somebody else wrote: only web addresses, and nothing of this page is told.
 *
 * @param {string} url
 * @param {string} title
 */
function outward(url, title) {
  if (!/^https?:/.test(url)) return title;
  const name = title === '' ? new URL(url).host : title;
  return element('a', { href: url, rel: 'noopener noreferrer nofollow', target: '_blank', title: url }, name);
}

/** @param {ChannelRecord} record */
function jsonOf(record) {
  const text = JSON.stringify(record, null, 2);
  return element(
    'details',
    {},
    element('summary', {}, 'JSON response'),
    element('pre', { tabindex: 0, 'aria-label': 'The record as JSON' }, element('code', {}, text)),
  );
}

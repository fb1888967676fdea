import { element } from './dom.ts';
import type { ChannelRecord } from './image-choice.ts';
import { formatCount, formatCountry, formatDate } from './numbers.ts';

/** `null` in a record: the channel hides the value, or the source did not give it. */
const NOT_AVAILABLE = 'not available';

/** Shows a record as text. */
export function createRecordView(container: HTMLElement) {
  return {
    show(record: ChannelRecord) {
      const heading = element('h2', { id: 'record-heading' }, 'Record');
      const counts = element(
        'dl',
        { class: 'counts' },
        count('Subscribers', record.subscriberCount),
        count('Views', record.viewCount),
        count('Videos', record.videoCount),
      );
      const { text, button } = descriptionOf(record);
      container.replaceChildren(
        heading,
        counts,
        ...(button === undefined ? [text] : [text, button]),
        detailsOf(record),
      );
    },
  };
}

function count(label: string, value: string | null) {
  const shown = value === null ? mutedValue(NOT_AVAILABLE) : element('dd', {}, formatCount(value));
  return element('div', {}, element('dt', {}, label), shown);
}

function mutedValue(text: string) {
  return element('dd', { class: 'unknown' }, text);
}

/** A long description is folded to some lines. */
function descriptionOf({ description }: ChannelRecord): { text: HTMLElement; button?: HTMLElement } {
  if (description === null) return { text: element('p', { class: 'muted' }, 'The description is not available.') };
  if (description === '') return { text: element('p', { class: 'muted' }, 'No description.') };
  const text = element('p', { class: 'description is-folded', id: 'description', dir: 'auto' }, description);
  const button = element(
    'button',
    { type: 'button', class: 'link', 'aria-expanded': 'false', 'aria-controls': 'description', hidden: true },
    'Show all',
  );
  button.addEventListener('click', () => {
    const isFolded = text.classList.toggle('is-folded');
    button.setAttribute('aria-expanded', String(!isFolded));
    button.textContent = isFolded ? 'Show all' : 'Show less';
  });
  // Whether it fits depends on its width.
  new ResizeObserver(() => {
    if (text.classList.contains('is-folded')) button.hidden = text.scrollHeight <= text.clientHeight + 1;
  }).observe(text);
  return { text, button };
}

function detailsOf({ publishedAt, country, channelId, links }: ChannelRecord) {
  const since =
    publishedAt === null
      ? null
      : element('time', { datetime: publishedAt, title: publishedAt }, formatDate(publishedAt));
  const listed = links.map(({ title, url }) => element('li', {}, ownerLink(url, title)));
  return element(
    'dl',
    { class: 'details' },
    element('dt', {}, 'Since'),
    since === null ? mutedValue(NOT_AVAILABLE) : element('dd', {}, since),
    element('dt', {}, 'Country'),
    country === null ? mutedValue(NOT_AVAILABLE) : element('dd', {}, formatCountry(country)),
    element('dt', {}, 'ID'),
    element('dd', {}, element('code', {}, channelId)),
    element('dt', {}, 'Links'),
    listed.length === 0 ? mutedValue('none') : element('dd', {}, element('ul', { class: 'links' }, ...listed)),
  );
}

/** A link that the channel's owner wrote. Only web addresses are links, and they do not learn the page's address. */
function ownerLink(url: string, title: string) {
  const target = /^https?:/i.test(url) ? URL.parse(url) : null;
  if (target === null) return element('span', { dir: 'auto' }, title);
  const name = title === '' ? target.host : title;
  const attributes = { href: url, rel: 'noopener noreferrer nofollow', target: '_blank', title: url, dir: 'auto' };
  return element('a', attributes, name);
}

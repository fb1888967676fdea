import type { RequestDeps } from './api.ts';
import { createCopyButton } from './copy.ts';
import { element, find } from './dom.ts';
import { type ChannelRecord, throughInstance } from './images.ts';
import { createNotice } from './notice.ts';
import { createRegion } from './region.ts';

const METRICS = [
  { metric: 'subscribers', label: 'Subscribers' },
  { metric: 'views', label: 'Views' },
  { metric: 'videos', label: 'Videos' },
];

/** A badge for a README, drawn by shields.io from the instance's JSON. The preview is drawn here, on demand. */
export function createBadge(root: HTMLElement, { api, budget, instance }: RequestDeps) {
  const form = find('#badge-options', HTMLFormElement, root);
  const code = find('#badge-snippet code', HTMLElement, root);
  const preview = find('#badge-preview', HTMLElement, root);
  const region = createRegion({ notice: createNotice(find('#badge-notice', HTMLElement, root)), budget });
  let shown: { record: ChannelRecord; base: string } | undefined;

  find('#metrics', HTMLElement, form).append(
    ...METRICS.map(({ metric, label }, at) =>
      element(
        'label',
        {},
        element('input', { type: 'radio', name: 'metric', value: metric, checked: at === 0 }),
        label,
      ),
    ),
  );
  find('#badge-bar', HTMLElement, root).append(
    createCopyButton(
      'Copy',
      () => code.textContent ?? '',
      () => code,
    ),
  );
  form.addEventListener('input', write);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    load();
  });

  function badgeUrl() {
    const metric = String(new FormData(form).get('metric'));
    const query = metric === 'subscribers' ? '' : `?metric=${metric}`;
    return { metric, url: `${shown?.base}/api/badge/${shown?.record.channelId}${query}` };
  }

  function write() {
    if (shown === undefined) return;
    region.end();
    preview.replaceChildren();
    const { metric, url } = badgeUrl();
    const image = `https://img.shields.io/endpoint?url=${encodeURIComponent(url)}`;
    code.textContent = `[![${metric}](${image})](https://www.youtube.com/channel/${shown.record.channelId})`;
  }

  function load() {
    void region.run({
      label: 'Loading the badge.',
      verb: 'Load',
      load: (options) => api.getJson(throughInstance(instance(), badgeUrl().url), options),
      show: (badge) => preview.replaceChildren(draw(String(badge.label), String(badge.message))),
      retry: load,
    });
  }

  return {
    /** @param base the origin that the instance writes in its URLs */
    show(record: ChannelRecord, base: string) {
      shown = { record, base };
      write();
    },
  };
}

/** Like shields.io's flat style. */
function draw(label: string, message: string) {
  const sides = [element('span', {}, label), element('span', {}, message)];
  return element('span', { class: 'badge', role: 'img', 'aria-label': `${label}: ${message}` }, ...sides);
}

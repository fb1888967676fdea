import type { RequestDeps } from './api.ts';
import { element, find } from './dom.ts';
import { type ChannelRecord, nameInPath } from './image-choice.ts';
import { escapeHtml, escapeMarkdown } from './image-snippets.ts';
import { loadImage } from './load-image.ts';
import { whenSeen } from './patience.ts';
import { createRegion } from './region.ts';
import { createSnippetBox, type Snippet } from './snippet-box.ts';

interface BadgeSnippetInput {
  /** The URL of the badge. */
  readonly url: string;
  readonly alt: string;
  /** The URL of the channel's page. */
  readonly page: string;
}

const METRICS = [
  { metric: 'subscribers', label: 'Subscribers' },
  { metric: 'views', label: 'Views' },
  { metric: 'videos', label: 'Videos' },
];
/** The first style is the default. */
const STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'];
const TYPING_PAUSE_MS = 500;

const SNIPPETS: readonly Snippet<BadgeSnippetInput>[] = [
  {
    name: 'markdown',
    label: 'Markdown',
    write: ({ url, alt, page }) => `[![${escapeMarkdown(alt)}](${url})](${page})`,
  },
  {
    name: 'html',
    label: 'HTML',
    write: ({ url, alt, page }) =>
      `<a href="${escapeHtml(page)}"><img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}"></a>`,
  },
];

/** A badge for a README: its options, the instance's image for them, and the snippets. */
export function createBadge(root: HTMLElement, deps: RequestDeps) {
  const form = find('#badge-options', HTMLFormElement, root);
  // Its first value is the color of a badge without the parameter.
  const colorField = find('#badge-color', HTMLInputElement, form);
  const preview = find('#badge-preview', HTMLImageElement, root);
  const region = createRegion(find('#badge-notice', HTMLElement, root), deps.budget);
  const snippets = createSnippetBox<BadgeSnippetInput>(find('#badge-snippets', HTMLElement, root), {
    id: 'badge-snippet',
    label: 'Copy the badge as',
  });
  let shown: { record: ChannelRecord; base: string } | undefined;
  let seen = new AbortController();
  let isSeen = false;
  let objectUrl = '';
  let pause: ReturnType<typeof setTimeout> | undefined;

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
  find('#badge-style', HTMLSelectElement, form).append(
    ...STYLES.map((style) => element('option', { value: style }, style)),
  );
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => {
    clearTimeout(pause);
    write();
    pause = setTimeout(load, TYPING_PAUSE_MS);
  });

  function badgeUrl({ record, base }: { record: ChannelRecord; base: string }) {
    const chosen = new FormData(form);
    const text = (name: string) => String(chosen.get(name)).trim();
    const [metric, style, label] = [text('metric'), text('style'), text('label')];
    const [color, logo] = [text('color'), text('logo')];
    const url = new URL(`/api/badge/${nameInPath(record)}.svg`, base);
    if (metric !== METRICS[0]?.metric) url.searchParams.set('metric', metric);
    if (style !== STYLES[0]) url.searchParams.set('style', style);
    if (label !== '') url.searchParams.set('label', label);
    if (color !== colorField.defaultValue) url.searchParams.set('color', color.slice(1));
    if (logo !== '') url.searchParams.set('logo', logo);
    return { url: url.href, alt: label === '' ? metric : label };
  }

  function write() {
    if (shown === undefined) return;
    const page = `https://www.youtube.com/channel/${shown.record.channelId}`;
    snippets.show(SNIPPETS, { ...badgeUrl(shown), page });
  }

  function load() {
    clearTimeout(pause);
    if (shown === undefined || !isSeen) return;
    const { url, alt } = badgeUrl(shown);
    void region.run({
      label: 'Loading the badge.',
      verb: 'Load',
      load: (options) => loadImage(deps, url, options),
      show(image) {
        URL.revokeObjectURL(objectUrl);
        objectUrl = image.url;
        Object.assign(preview, { src: image.url, ...image.size, alt, hidden: false });
      },
      fail() {
        preview.hidden = true;
        return [];
      },
      retry: load,
    });
  }

  return {
    /**
     * Shows the badge of another channel. The image is requested when the badge is on the screen.
     *
     * @param base the origin that the instance writes in its URLs
     */
    show(record: ChannelRecord, base: string) {
      seen.abort();
      seen = new AbortController();
      clearTimeout(pause);
      region.end();
      shown = { record, base };
      isSeen = false;
      preview.hidden = true;
      write();
      whenSeen(preview.parentElement ?? root, seen.signal, () => {
        isSeen = true;
        load();
      });
    },
  };
}

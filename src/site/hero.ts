import type { RequestDeps } from './api.ts';
import { createCopyButton } from './copy.ts';
import { find } from './dom.ts';
import { bundledImages, type ExampleChannel } from './gallery.ts';
import { nameInPath } from './image-choice.ts';
import { loadImage } from './load-image.ts';
import { whenSeen } from './patience.ts';
import { createRegion } from './region.ts';

const TYPING_PAUSE_MS = 700;
/** The first channel for an instance whose channels are unknown. */
const WELL_KNOWN = '@YouTube';

/** A URL of the instance that the visitor can change, and its image. */
export function createHero(form: HTMLFormElement, deps: RequestDeps) {
  const { instance } = deps;
  const input = find('#hero-url', HTMLTextAreaElement, form);
  const image = find('#hero-image', HTMLImageElement, form);
  const region = createRegion(find('#hero-notice', HTMLElement, form), deps.budget);
  let pause: ReturnType<typeof setTimeout> | undefined;
  let objectUrl = '';
  let beforeSeen = new AbortController();

  find('.url-field', HTMLElement, form).append(createCopyButton('Copy URL', () => input.value));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    load();
  });
  // Enter would add a line: the field is a textarea, because a phone would hide the end of the URL in an input.
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    load();
  });
  input.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => load(), TYPING_PAUSE_MS);
  });

  /** @param isExample the visitor has not asked for this channel, which the instance may not have */
  function load(isExample = false) {
    clearTimeout(pause);
    beforeSeen.abort();
    const url = URL.parse(input.value.trim(), `${instance()}/`);
    if (url?.origin !== instance()) {
      image.hidden = true;
      return region.say(`Enter a URL that begins with ${instance()}/`);
    }
    void region.run({
      label: 'Loading the image.',
      verb: 'Load',
      load: (options) => loadImage(deps, url.href, options),
      show: ({ url: shown }) => show(shown),
      fail({ code }) {
        image.hidden = true;
        form.hidden = isExample && code === 'channel_not_found';
        return [];
      },
      retry: () => load(isExample),
    });
  }

  function show(url: string) {
    URL.revokeObjectURL(objectUrl);
    objectUrl = url;
    image.src = url;
    image.hidden = false;
  }

  return {
    /** Starts again with a channel of the instance. @param channel `undefined`: none is known */
    start(channel: ExampleChannel | undefined) {
      clearTimeout(pause);
      region.end();
      beforeSeen.abort();
      beforeSeen = new AbortController();
      image.hidden = true;
      form.hidden = instance() === '';
      if (form.hidden) return;
      const name =
        channel === undefined ? WELL_KNOWN : nameInPath({ customUrl: channel.handle, channelId: channel.channelId });
      input.value = `${instance()}/${name}/tv`;
      const bundled = channel === undefined ? undefined : bundledImages(channel.channelId)?.banner;
      whenSeen(form, beforeSeen.signal, () => (bundled === undefined ? load(true) : show(bundled)));
    },
  };
}

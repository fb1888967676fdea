import type { RequestDeps } from './api.ts';
import { createBadge } from './badge.ts';
import { createCopyButton } from './copy.ts';
import { element, find } from './dom.ts';
import type { BundledImages } from './gallery.ts';
import type { ChannelRecord, ImageChoice } from './image-choice.ts';
import { createImagePanel } from './image-panel.ts';
import { createNotice } from './notice.ts';
import { RECORD_SNIPPETS, type RecordSnippetInput } from './record-snippets.ts';
import { createRecordView } from './record-view.ts';
import { createShelf } from './shelf.ts';
import { createShelfImages } from './shelf-images.ts';
import { createSnippetBox } from './snippet-box.ts';

interface ChannelView {
  /** `undefined`: no channel is shown. */
  readonly shown: () => ChannelRecord | undefined;
  /** Shows a channel whose record is being loaded. @param bundled shown until the images of the instance are there */
  readonly showLoading: (name: string, bundled: BundledImages | undefined) => void;
  /** Shows a channel and loads its images. @param signal ends these requests */
  readonly show: (record: ChannelRecord, choice: ImageChoice, signal: AbortSignal) => void;
  /** Shows another image of the same channel. */
  readonly choose: (choice: ImageChoice) => void;
  readonly clear: () => void;
}

interface ChannelViewDeps extends RequestDeps {
  /** Another image was chosen. @param isTyped in a text or number field */
  readonly onChoice: (choice: ImageChoice, isTyped: boolean) => void;
}

/** A channel: its devices, image, record, badge and snippets. */
export function createChannelView(root: HTMLElement, { onChoice, ...deps }: ChannelViewDeps): ChannelView {
  const title = find('#channel-title', HTMLElement, root);
  const handle = find('#channel-handle', HTMLElement, root);
  const face = find('#channel-face', HTMLElement, root);
  const shelfElement = find('#shelf', HTMLElement, root);
  const shelfNote = find('#shelf-note', HTMLElement, root);
  const announcements = find('#announcements', HTMLElement);
  const shelf = createShelf(shelfElement, { onChoose: (variant) => panel.choose(variant) });
  const shelfImages = createShelfImages({
    ...deps,
    shelf,
    element: shelfElement,
    notice: createNotice(find('#shelf-notice', HTMLElement, root)),
    onAvatar: (url) => face.replaceChildren(element('img', { src: url, alt: '' })),
  });
  const panel = createImagePanel(find('#image', HTMLElement, root), {
    ...deps,
    onChoice(choice, isTyped) {
      onChoice(choice, isTyped);
      shelf.choose(choice.variant);
      shelfImages.panelChanged();
    },
    onImage: shelfImages.use,
  });
  const recordView = createRecordView(find('#record', HTMLElement, root));
  const recordSnippets = createSnippetBox<RecordSnippetInput>(find('#record-snippets', HTMLElement, root), {
    id: 'record-snippet',
    label: 'Copy the record as',
  });
  const badge = createBadge(find('#badge', HTMLElement, root), deps);
  let record: ChannelRecord | undefined;
  let placeholders: BundledImages | undefined;

  find('#channel-actions', HTMLElement, root).append(createCopyButton('Copy link', () => location.href));

  /** Shows the devices before the images of the instance are there. */
  function showDevices() {
    shelf.show(record, placeholders);
    face.replaceChildren(
      ...(placeholders === undefined ? [] : [element('img', { src: placeholders.avatar, alt: '' })]),
    );
  }

  /** The origin that the instance writes in its URLs. */
  function baseOf({ bannerUrl, avatarUrl }: ChannelRecord) {
    const url = bannerUrl ?? avatarUrl;
    return url === null ? deps.instance() : new URL(url).origin;
  }

  return {
    shown: () => record,

    showLoading(name, bundled) {
      title.textContent = name;
      handle.textContent = 'Loading…';
      placeholders = bundled;
      showDevices();
    },

    show(shown, choice, signal) {
      record = shown;
      document.title = `${shown.title} · Pennant playground`;
      title.textContent = shown.title;
      title.title = shown.title;
      handle.textContent = shown.customUrl ?? shown.channelId;
      const bare =
        shown.avatarUrl === null ? 'This channel has no banner and no avatar.' : 'This channel has no banner.';
      shelfNote.textContent = shown.bannerUrl === null ? bare : '';
      showDevices();
      shelf.choose(choice.variant);
      panel.show(shown, choice);
      recordView.show(shown);
      const base = baseOf(shown);
      recordSnippets.show(RECORD_SNIPPETS, { record: shown, url: `${base}/api/channel/${shown.channelId}` });
      badge.show(shown, base);
      announcements.textContent = `${shown.title} is shown.`;
      shelfImages.show(shown, choice, signal, () => panel.load());
    },

    choose(choice) {
      shelf.choose(choice.variant);
      panel.apply(choice);
    },

    clear() {
      record = undefined;
      placeholders = undefined;
      document.title = 'Pennant playground';
      announcements.textContent = '';
      face.replaceChildren();
      shelfNote.textContent = '';
      shelf.choose(undefined);
    },
  };
}

import type { Variant } from '../domain/variants.ts';
import { Problem, type RequestDeps } from './api.ts';
import { type ChannelRecord, type ImageChoice, imageUrl, usualWidth } from './image-choice.ts';
import type { ShownImage } from './image-panel.ts';
import { loadImage } from './load-image.ts';
import type { Notice } from './notice.ts';
import { USUAL_CHOICE } from './page-state.ts';
import { RESERVE, waitForBudget, whenSeen } from './patience.ts';
import type { Shelf } from './shelf.ts';

interface ShelfImagesDeps extends RequestDeps {
  readonly shelf: Shelf;
  /** The shelf: nothing is loaded before it is on the screen. */
  readonly element: HTMLElement;
  readonly onAvatar: (url: string) => void;
  /** Beside the devices. */
  readonly notice: Notice;
}

/** Loads the images of the devices and the avatar, as far as the image panel does not load them anyway. */
export function createShelfImages({ shelf, element, onAvatar, notice, ...deps }: ShelfImagesDeps) {
  let objectUrls: string[] = [];
  let shown: { record: ChannelRecord; signal: AbortSignal } | undefined;
  let isTvRequested = false;
  /** The wait that the notice shows. All images that are not loaded yet share it. */
  let wait: Promise<'over' | 'now'> | undefined;
  /** Loaded again when the response to one of them allows it. */
  const failed = new Set<Variant>();

  function waitBeside(ms: number, signal: AbortSignal) {
    wait ??= notice.wait(ms, { verb: 'Load', signal }).finally(() => {
      wait = undefined;
      loadFailed();
    });
    return wait;
  }

  async function load(variant: Variant) {
    if (shown === undefined) return undefined;
    const { record, signal } = shown;
    if (signal.aborted) return undefined;
    const url = imageUrl(record, { ...USUAL_CHOICE, variant, width: usualWidth(variant) });
    if (url === undefined) return undefined;
    try {
      const loaded = await loadImage(deps, url, {
        signal,
        beforeSend: () => waitForBudget(deps.budget, (ms) => waitBeside(ms, signal)),
      });
      objectUrls.push(loaded.url);
      // Another channel may have been chosen while the image was decoded.
      return signal.aborted ? undefined : loaded;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof Problem)) throw error;
      // The shelf is not needed, and the image panel shows errors that stay.
      if (error.retryAfterMs === 0 && error.code !== 'offline') return undefined;
      failed.add(variant);
      // The notice of a wait stays: its end loads this image, too.
      if (wait === undefined) notice.explain(error, loadFailed);
      if (error.code === 'offline') addEventListener('online', loadFailed, { once: true, signal });
      return undefined;
    }
  }

  function loadFailed() {
    notice.clear();
    const isAvatarMissing = failed.delete('avatar');
    const isBannerMissing = failed.size > 0;
    failed.clear();
    if (isAvatarMissing) void loadAvatar();
    if (isBannerMissing) void loadTv();
  }

  async function loadAvatar() {
    const loaded = await load('avatar');
    if (loaded === undefined) return;
    shelf.showAvatar(loaded.url);
    onAvatar(loaded.url);
  }

  async function loadTv() {
    isTvRequested = true;
    const loaded = await load('tv');
    if (loaded !== undefined) await showTv(loaded.url, loaded.size.width);
  }

  /** @param width of the image in pixels */
  async function showTv(url: string, width: number) {
    const signal = shown?.signal;
    if (signal === undefined || signal.aborted) return;
    if (width >= Number(usualWidth('tv'))) return shelf.showOnAll(url);
    // A small banner may have another aspect ratio, and then its crops are not parts of the TV crop.
    shelf.showImage('tv', url);
    for (const variant of shelf.missing()) {
      const own = await load(variant);
      if (signal.aborted) return;
      if (own !== undefined) shelf.showImage(variant, own.url);
    }
  }

  return {
    /**
     * @param choice the image panel's
     * @param loadChosen called first
     */
    show(record: ChannelRecord, choice: ImageChoice, signal: AbortSignal, loadChosen: () => void) {
      for (const url of objectUrls) URL.revokeObjectURL(url);
      objectUrls = [];
      shown = { record, signal };
      failed.clear();
      signal.addEventListener('abort', notice.clear, { once: true });
      isTvRequested = record.bannerUrl === null;
      whenSeen(element, signal, () => {
        // The panel's image may have to wait, and the devices are empty until it is loaded.
        const ms = deps.budget.waitMs(RESERVE);
        if (ms > 0) waitBeside(ms, signal).catch(() => undefined);
        loadChosen();
        if (!isTvRequested && !isUsual(choice, 'tv')) void loadTv();
        if (!isUsual(choice, 'avatar')) void loadAvatar();
      });
    },

    /** Loads the TV image if the panel has changed to another image before it had loaded the TV image. */
    panelChanged() {
      if (!isTvRequested) void loadTv();
    },

    /** Uses the image of the panel. */
    use({ choice, url, width }: ShownImage) {
      if (isUsual(choice, 'tv')) {
        isTvRequested = true;
        return void showTv(url, width);
      }
      if (isUsual(choice, 'avatar')) {
        shelf.showAvatar(url);
        return onAvatar(url);
      }
      const isWhole = choice.variant !== 'avatar' && choice.height === '';
      if (isWhole && width >= Number(usualWidth('tv')) / 2) shelf.showImage(choice.variant, url);
    },
  };
}

/** Whether the panel's image is the one that the shelf needs. */
function isUsual(choice: ImageChoice, variant: Variant) {
  return choice.variant === variant && choice.width === usualWidth(variant) && choice.height === '';
}

import type { Variant } from '../domain/variants.ts';
import { Problem, type RequestDeps } from './api.ts';
import {
  BROWSER_ACCEPT,
  type ChannelRecord,
  type ImageChoice,
  imageUrl,
  throughInstance,
  usualWidth,
} from './image-choice.ts';
import type { ShownImage } from './image-panel.ts';
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
export function createShelfImages({ api, budget, instance, shelf, element, onAvatar, notice }: ShelfImagesDeps) {
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

  /** @returns the address of the bytes in this page */
  async function load(variant: Variant): Promise<string | undefined> {
    if (shown === undefined) return undefined;
    const { record, signal } = shown;
    if (signal.aborted) return undefined;
    const url = imageUrl(record, { ...USUAL_CHOICE, variant, width: usualWidth(variant) });
    if (url === undefined) return undefined;
    try {
      const { body } = await api.get(throughInstance(instance(), url), {
        accept: BROWSER_ACCEPT,
        signal,
        beforeSend: () => waitForBudget(budget, (ms) => waitBeside(ms, signal)),
      });
      const shownUrl = URL.createObjectURL(body);
      objectUrls.push(shownUrl);
      return shownUrl;
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
    const url = await load('avatar');
    if (url === undefined) return;
    shelf.showAvatar(url);
    onAvatar(url);
  }

  async function loadTv() {
    isTvRequested = true;
    const url = await load('tv');
    if (url === undefined) return;
    const image = new Image();
    image.src = url;
    const isDecoded = await image.decode().then(
      () => true,
      () => false,
    );
    if (isDecoded) await showTv(url, image.naturalWidth);
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
      if (own !== undefined) shelf.showImage(variant, own);
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
        const ms = budget.waitMs(RESERVE);
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

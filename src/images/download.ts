import { isImageUrl, type RemoteImage } from '../domain/channel.ts';
import { AppError, clearestError, type ErrorCode, errorCodeOf, isKeyFailure } from '../domain/errors.ts';
import { sniffFormat } from '../domain/formats.ts';
import { type Breaker, UnexplainedRefusalError } from '../lib/breaker.ts';
import type { Clock } from '../lib/clock.ts';
import { withDeadline } from '../lib/deadlines.ts';
import { LocalLimitError } from '../lib/http/call-budget.ts';
import { ForeignRedirectError, type HttpClient, type HttpResponse, readRetryAfterMs } from '../lib/http/http-client.ts';

/** The download of an original, all its URLs together. */
export const DOWNLOAD_MS = 10_000;

/** Uploads have 6 MB at most: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). */
const MAX_BYTES = 16 * 1024 * 1024;

interface DownloaderOptions {
  readonly http: HttpClient;
  /** Replaces the origins of the image hosts. Path and options of the URL stay. */
  readonly imageOrigin?: string | undefined;
  /** The breaker of the image hosts. */
  readonly breaker: Breaker;
  readonly clock: Clock;
  /** For metrics. */
  readonly onOutcome?: (outcome: ErrorCode | 'found') => void;
}

export interface Downloader {
  /**
   * Returns the bytes of an original: JPEG, PNG, WebP, AVIF or GIF by their signature, at most 16 MiB.
   *
   * @throws AppError `image_not_found` if the image is definitely gone, `upstream_unavailable`, `upstream_timeout` or
   *   `upstream_invalid` if the download failed
   */
  download(ref: RemoteImage, options: { readonly signal: AbortSignal }): Promise<Buffer>;
}

export function createDownloader(options: DownloaderOptions): Downloader {
  const { http, imageOrigin, breaker, clock, onOutcome } = options;

  async function fetchOne(url: string, signal: AbortSignal): Promise<Buffer> {
    const { origin, pathname, search } = new URL(url);
    const target = `${imageOrigin ?? origin}${pathname}${search}`;
    try {
      return readImage(
        await http.request({ method: 'GET', url: target, timeoutMs: DOWNLOAD_MS, maxBytes: MAX_BYTES, signal }),
        breaker,
      );
    } catch (error) {
      if (!(error instanceof ForeignRedirectError)) throw error;
      throw breaker.refuse('redirect to another host');
    }
  }

  /** Tries the URLs in order. Goes on to the next one after a failure that concerns the previous one only. */
  async function fetchFirst(urls: readonly string[], signal: AbortSignal): Promise<Buffer> {
    const unusable: AppError[] = [];
    for (const url of urls) {
      try {
        return await fetchOne(url, signal);
      } catch (error) {
        if (!concernsUrlOnly(error)) throw error;
        unusable.push(error);
      }
    }
    const failures = unusable.filter((error) => error.code !== 'image_not_found');
    throw clearestError(failures) ?? new AppError('image_not_found', GONE);
  }

  return {
    async download(ref, { signal }) {
      const urls = ref.urls.filter((url) => URL.canParse(url) && isImageUrl(new URL(url)));
      if (urls.length === 0) throw new AppError('upstream_invalid', 'The image’s host is not allowed.');
      const fetchInTime = () => withDeadline(clock, DOWNLOAD_MS, signal, (attempt) => fetchFirst(urls, attempt));
      try {
        const bytes = await breaker.run(ref.key, fetchInTime, signal);
        onOutcome?.('found');
        return bytes;
      } catch (error) {
        // An aborted download says nothing about the hosts.
        if (!signal.aborted && !(error instanceof LocalLimitError)) onOutcome?.(errorCodeOf(error));
        throw error;
      }
    },
  };
}

const GONE = 'The image is no longer where the channel says it is.';

/** Whether the image may be available under another URL. */
function concernsUrlOnly(error: unknown): error is AppError {
  const isDefinite = error instanceof AppError && ['image_not_found', 'upstream_invalid'].includes(error.code);
  return isDefinite || isKeyFailure(error);
}

/** The image in the response. @param breaker opens when the host refuses this address */
function readImage(response: HttpResponse, breaker: Breaker): Buffer {
  const { status, headers, body } = response;
  const refused = (what: string) => breaker.refuse(what, readRetryAfterMs(headers));
  if (status === 404 || status === 410) throw new AppError('image_not_found', GONE);
  if (status === 429) throw refused('status 429');
  if (status >= 500) throw new AppError('upstream_unavailable', `The image host failed with status ${status}.`);
  if (status >= 400) {
    const message = `The image host refused the image with status ${status}.`;
    if (status === 403) throw new UnexplainedRefusalError(message, 'status 403');
    // The refusal concerns this URL only.
    throw new AppError('upstream_unavailable', message, { scope: 'key' });
  }
  // HTML is a captcha or a consent page.
  if (/^\s*text\/html\b/i.test(headers['content-type'] ?? '')) {
    throw refused(`HTML with status ${status}`);
  }
  if (status !== 200 || sniffFormat(body) === undefined) {
    throw new AppError('upstream_invalid', 'The image host did not respond with a JPEG, PNG, WebP, AVIF or GIF image.');
  }
  return body;
}

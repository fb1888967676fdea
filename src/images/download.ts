import { isImageUrl, type RemoteImage } from '../domain/channel.ts';
import { AppError, clearestError, type ErrorCode, errorCodeOf, isKeyFailure } from '../domain/errors.ts';
import { sniffFormat } from '../domain/formats.ts';
import type { Verdict } from '../lib/breaker.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../lib/deadlines.ts';
import { NotSentError } from '../lib/http/call-budget.ts';
import type { Gate } from '../lib/http/gate.ts';
import { type HttpResponse, readRetryAfterMs } from '../lib/http/http-client.ts';

/** The download of an original, all its URLs together. */
export const DOWNLOAD_MS = 10_000;

/** Uploads have 6 MB at most: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). */
const MAX_BYTES = 16 * 1024 * 1024;

interface DownloaderOptions {
  readonly gate: Gate;
  /** Replaces the origins of the image hosts. Path and options of the URL stay. */
  readonly imageOrigin?: string | undefined;
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
  download(ref: RemoteImage): Promise<Buffer>;
}

export function createDownloader(options: DownloaderOptions): Downloader {
  const { gate, imageOrigin, clock, onOutcome } = options;

  const mayFollow = (target: URL) => isImageUrl(target) || target.origin === imageOrigin;

  /** @param key of the image */
  function fetchOne(url: string, key: string, signal: AbortSignal): Promise<Buffer> {
    const { origin, pathname, search } = new URL(url);
    const target = `${imageOrigin ?? origin}${pathname}${search}`;
    const limits = { timeoutMs: DOWNLOAD_MS, maxBytes: MAX_BYTES, signal };
    return gate.request({ method: 'GET', url: target, mayFollow, ...limits }, key, judgeImage);
  }

  /** Tries the URLs in order. Goes on to the next one after a failure that concerns the previous one only. */
  async function fetchFirst(urls: readonly string[], key: string, signal: AbortSignal): Promise<Buffer> {
    const unusable: AppError[] = [];
    for (const url of urls) {
      try {
        return await fetchOne(url, key, signal);
      } catch (error) {
        if (!isKeyFailure(error) && errorCodeOf(error) !== 'image_not_found') throw error;
        unusable.push(error as AppError);
      }
    }
    const failures = unusable.filter((error) => error.code !== 'image_not_found');
    throw clearestError(failures) ?? new AppError('image_not_found', GONE);
  }

  return {
    async download(ref) {
      const urls = ref.urls.filter((url) => URL.canParse(url) && isImageUrl(new URL(url)));
      if (urls.length === 0) throw new AppError('upstream_invalid', 'The image’s host is not allowed.');
      try {
        const bytes = await withDeadline(clock, DOWNLOAD_MS, NEVER_ABORTED, (signal) =>
          fetchFirst(urls, ref.key, signal),
        );
        onOutcome?.('found');
        return bytes;
      } catch (error) {
        if (!(error instanceof NotSentError)) onOutcome?.(errorCodeOf(error));
        throw error;
      }
    },
  };
}

const GONE = 'The image is no longer where the channel says it is.';

/** What a response says: the image, or an error that concerns its URL only. */
function judgeImage({ status, headers, body }: HttpResponse): Verdict<Buffer> {
  const detail = `status ${status}`;
  const waitMs = readRetryAfterMs(headers);
  if (status === 404 || status === 410) return { kind: 'answered', value: new AppError('image_not_found', GONE) };
  if (status === 429) return { kind: 'refused', detail, waitMs };
  if (status >= 300 && status < 400) return { kind: 'refused', detail: 'redirect to another host', waitMs };
  if (status === 403) return { kind: 'unexplained', detail };
  if (status >= 500) return { kind: 'failing', detail };
  if (status >= 400) {
    const options = { cause: new Error(detail), scope: 'key' } as const;
    return { kind: 'answered', value: new AppError('upstream_unavailable', 'YouTube refused the image.', options) };
  }
  // HTML is a captcha or a consent page.
  if (/^\s*text\/html\b/i.test(headers['content-type'] ?? '')) {
    return { kind: 'refused', detail: `HTML with status ${status}`, waitMs };
  }
  if (status === 200 && sniffFormat(body) !== undefined) return { kind: 'answered', value: body };
  return { kind: 'unreadable', detail: 'no JPEG, PNG, WebP, AVIF or GIF image' };
}

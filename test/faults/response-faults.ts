/** How the suites judge a response. */
import type { SentResponse } from '../helpers/http-request.ts';
import { decodeImage } from '../helpers/image.ts';

/** Width in pixels of every sample's avatar. An image is never enlarged; the banners are larger than any requested width. */
const AVATAR_WIDTH = 800;
const IMAGE_PATH = /^\/[^/]+\/([a-z]+)(?:\.([a-z]+))?$/;

/**
 * Judges a response that must succeed: status 200, and the record, the search or the image that the URL names.
 *
 * @param url of a record by channel ID, of a search, or of an image
 * @returns the fault
 */
export async function findResponseFault(url: string, { status, bytes }: SentResponse): Promise<string | undefined> {
  if (status !== 200) return `${url} returned ${status}`;
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  try {
    const fault = pathname.startsWith('/api/')
      ? findJsonFault(pathname, JSON.parse(bytes.toString('utf8')))
      : await findImageFault(pathname, searchParams.get('width'), bytes);
    return fault && `${url}: ${fault}`;
  } catch (error) {
    return `${url} cannot be decoded: ${(error as Error).message}`;
  }
}

function findJsonFault(path: string, body: { channelId?: unknown; results?: unknown } | null): string | undefined {
  if (path === '/api/search') return Array.isArray(body?.results) ? undefined : 'no search results';
  return path === `/api/channel/${body?.channelId}` ? undefined : `the record of ${body?.channelId}`;
}

async function findImageFault(path: string, requested: string | null, bytes: Buffer): Promise<string | undefined> {
  const [, variant, extension] = IMAGE_PATH.exec(path) ?? [];
  if (variant === undefined) throw new Error('not the path of an image');
  const { format, width } = await decodeImage(bytes);
  const expectedFormat = extension === 'jpg' ? 'jpeg' : (extension ?? format);
  if (format !== expectedFormat) return `${format} instead of ${expectedFormat}`;
  if (requested === null) return undefined;
  const expectedWidth = variant === 'avatar' ? Math.min(Number(requested), AVATAR_WIDTH) : Number(requested);
  return width === expectedWidth ? undefined : `${width} px wide instead of ${expectedWidth}`;
}

/** Judges several responses. @returns their faults */
export async function findResponseFaults(
  responses: readonly { readonly url: string; readonly response: SentResponse }[],
): Promise<string[]> {
  const found = await Promise.all(responses.map(({ url, response }) => findResponseFault(url, response)));
  return found.filter((fault) => fault !== undefined);
}

/** Whether a response refuses the request for now, or comes too late for it (504), and says when to try again. */
export function isRefusal(response: Pick<SentResponse, 'status' | 'headers'>): boolean {
  return [503, 504].includes(response.status) && hasRetryAfter(response);
}

/** Whether the service refused the request because it has no capacity for it at the moment. */
export function isOverload({ status, bytes }: SentResponse): boolean {
  return status === 503 && JSON.parse(bytes.toString('utf8')).code === 'overloaded';
}

/** Whether `Retry-After` is a positive whole number of seconds. */
function hasRetryAfter({ headers }: Pick<SentResponse, 'headers'>): boolean {
  return /^[1-9]\d*$/.test(headers['retry-after'] ?? '');
}

/** A check of nothing proves nothing. @returns a fault for each count that is 0 */
export function findEmptySamples(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts)
    .filter(([, count]) => !(count > 0))
    .map(([what]) => `no ${what}: nothing was tested`);
}

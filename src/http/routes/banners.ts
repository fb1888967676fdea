import { AppError } from '../../domain/errors.ts';
import { type Format, findFormat, formatRow } from '../../domain/formats.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Holders } from '../../lib/holders.ts';
import { withinMs } from '../../lib/work.ts';
import type { BannerService, Picture, PictureRequest } from '../../services/banners.ts';
import { acceptedFormats, acceptFieldStats } from '../request/accept.ts';
import { disconnectSignal, type Endpoint, type RequestContext } from '../request/context.ts';
import { createQueryReader, PICTURE_QUERY, parseQuery } from '../request/params.ts';
import { type PicturePath, parseBannerPath, parseShortPath } from '../request/picture-path.ts';
import { applyConditions, cacheStatusOf, type HttpResponse } from '../response/response.ts';

export interface BannerRouteOptions {
  readonly clock: Clock;
  readonly banners: BannerService;
  /** True when the format follows `Accept`. */
  readonly isNegotiating: boolean;
  readonly holders: Holders;
}

/** Banner crops and the avatar, in both URL forms. */
export function bannerRoutes({ clock, banners, isNegotiating, holders }: BannerRouteOptions): Endpoint[] {
  holders.add('Accept fields', acceptFieldStats);
  const readQuery = createQueryReader(PICTURE_QUERY);

  function parseInput(path: PicturePath, context: RequestContext): PictureRequest {
    const query = parseQuery(context.target.query);
    context.isNegotiated = isNegotiating && path.format === undefined && query.format === undefined;
    const { type, format: formatName, width, height, quality } = readQuery(query);
    const format = formatName === undefined ? undefined : findFormat(formatName);
    assertAgree('type', path.variant, type);
    assertAgree('format', path.format, format);
    const formats = formatsOf(path.format ?? format, context);
    return { refs: path.refs, variant: path.variant ?? type ?? 'default', formats, width, height, quality };
  }

  function formatsOf(format: Format | undefined, { request }: RequestContext): readonly Format[] {
    if (format !== undefined) return [format];
    return isNegotiating ? acceptedFormats(request.headers.accept) : [];
  }

  async function respond(input: PictureRequest, context: RequestContext): Promise<HttpResponse> {
    const startedAtMs = clock.monotonic();
    const picture = await banners.getPicture(input);
    const described = describe(picture);
    const conditional = applyConditions(context.request.headers, described);
    // Before the picture is made.
    if (conditional.status === 304) return conditional;
    const leftMs = TIME_LIMITS_MS.picture - (clock.monotonic() - startedAtMs);
    const rendering = picture.render({ client: context.client.key, disconnectSignal: () => disconnectSignal(context) });
    const made = await withinMs(clock, rendering, Math.max(1, leftMs));
    if (made === undefined) throw new AppError('overloaded', 'The picture is still being made: please ask again.');
    const { bytes: body, isStored, isCollapsed } = made;
    if (isStored) return { ...described, body };
    const outcome = { ...picture.outcome, kind: 'miss', isStored: true, isCollapsed } as const;
    const headers = { ...described.headers, 'cache-status': cacheStatusOf(outcome) };
    return { ...described, headers, body, cache: outcome.kind };
  }

  const common = { parseInput, respond };
  return [
    { url: '/api/banner/:identifier', parsePath: ({ identifier = '' }) => parseBannerPath(identifier), ...common },
    {
      url: '/api/banner/:identifier/:variant',
      parsePath: ({ identifier = '', variant }) => parseBannerPath(identifier, variant),
      ...common,
    },
    { url: '/:identifier', parsePath: ({ identifier = '' }) => parseShortPath(identifier), ...common },
    {
      url: '/:identifier/:variant',
      parsePath: ({ identifier = '', variant }) => parseShortPath(identifier, variant),
      ...common,
    },
  ] satisfies Endpoint<PicturePath, PictureRequest>[];
}

/** The response without its body. */
function describe(picture: Picture): HttpResponse {
  const { etag, earlierEtags, lastModifiedMs, outcome, format, channelId, variant } = picture;
  return {
    status: 200,
    headers: {
      'cache-control': 'public, max-age=86400',
      etag,
      'last-modified': new Date(lastModifiedMs).toUTCString(),
      'cache-status': cacheStatusOf(outcome),
      'content-type': formatRow(format).mediaType,
      // Made from the record alone: no text of the client goes into a header.
      'content-disposition': `inline; filename="${channelId}-${variant}.${formatRow(format).extension}"`,
    },
    cache: outcome.kind,
    cacheValidators: { etag, earlierEtags, lastModifiedMs },
  };
}

function assertAgree(parameter: string, inPath: string | undefined, inQuery: string | undefined): void {
  if (inPath === undefined || inQuery === undefined || inPath === inQuery) return;
  throw new AppError(
    'invalid_parameter',
    `The path says ${inPath} and the parameter "${parameter}" says ${inQuery}: leave one of them out.`,
  );
}

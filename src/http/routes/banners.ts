import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import { FORMATS, type Format, findFormat, formatRow } from '../../domain/formats.ts';
import { type ChannelRef, isChannelId, refsOfBareIdentifier } from '../../domain/identifier.ts';
import { quoted } from '../../domain/printable.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { isVariant, VARIANTS, type Variant } from '../../domain/variants.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HolderStats, Holders } from '../../lib/holders.ts';
import { withinMs } from '../../lib/work.ts';
import type { BannerService, Picture, PictureRequest } from '../../services/pictures.ts';
import { disconnectSignal, type Endpoint, type RequestContext, routeNotFound } from '../request/context.ts';
import { identifierNote } from '../request/hints.ts';
import { createQueryReader, PICTURE_QUERY, parseQuery } from '../request/target.ts';
import { applyConditions, cacheStatusOf, type HttpResponse } from '../response/response.ts';
import { type ChannelRouteOptions, recordResponse } from './channels.ts';

interface BannerRouteOptions extends ChannelRouteOptions {
  readonly clock: Clock;
  readonly banners: BannerService;
  /** True when the format follows `Accept`. */
  readonly isNegotiating: boolean;
  readonly holders: Holders;
}

/** Banner crops and the avatar, in both URL forms. */
export function bannerRoutes(options: BannerRouteOptions): Endpoint[] {
  const { clock, banners, isNegotiating, holders } = options;
  holders.add('Accept fields', acceptFieldStats);
  const readQuery = createQueryReader(PICTURE_QUERY);

  function parseInput(path: PicturePath, context: RequestContext): PictureRequest {
    const query = parseQuery(context.target.query);
    context.isNegotiated = isNegotiating && path.format === undefined && query.format === undefined;
    const { type: typeName, format: formatName, width, height, quality } = readQuery(query);
    const type = typeName === 'phone' ? 'mobile' : typeName;
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
    const conditional = applyConditions(context, described);
    // Before the picture is made.
    if (conditional.status === 304) return conditional;
    const leftMs = TIME_LIMITS_MS.picture - (clock.monotonic() - startedAtMs);
    const rendering = picture.render({ client: context.client.key, disconnectSignal: () => disconnectSignal(context) });
    const made = await withinMs(clock, rendering, Math.max(1, leftMs));
    if (made === undefined) throw new AppError('overloaded', 'The picture is not encoded yet. Try again.');
    const { bytes: body, isStored, isCollapsed } = made;
    if (isStored) return { ...described, body };
    const outcome = { ...picture.outcome, kind: 'miss', isStored: true, isCollapsed } as const;
    const headers = { ...described.headers, 'cache-status': cacheStatusOf(outcome) };
    return { ...described, headers, body, cache: outcome.kind };
  }

  /** Clients that know the channel page at `/@handle` as JSON get the record. */
  function wantsRecord({ refs }: PicturePath, { request, target, isNegotiated }: RequestContext): boolean {
    const isHandle = refs[0]?.kind === 'handle';
    if (!isHandle || !isNegotiated || !acceptsOnlyJson(request.headers.accept)) return false;
    return parseQuery(target.query).type === undefined;
  }

  const common = { parseInput, respond };
  const alone: Endpoint<PicturePath, PictureRequest | RecordRequest> = {
    url: '/:identifier',
    parsePath: ({ identifier = '' }) => parseShortPath(identifier),
    parseInput(path, context) {
      const picture = parseInput(path, context);
      return wantsRecord(path, context) ? { recordOf: path.refs } : picture;
    },
    respond: (input, context) =>
      'recordOf' in input ? recordResponse(options, input.recordOf, context.base) : respond(input, context),
  };
  const pictures: Endpoint<PicturePath, PictureRequest>[] = [
    { url: '/api/banner/:identifier', parsePath: ({ identifier = '' }) => parseBannerPath(identifier), ...common },
    {
      url: '/api/banner/:identifier/:variant',
      parsePath: ({ identifier = '', variant }) => parseBannerPath(identifier, variant),
      ...common,
    },
    {
      url: '/:identifier/:variant',
      parsePath: ({ identifier = '', variant }) => parseShortPath(identifier, variant),
      ...common,
    },
  ];
  return [...pictures, alone];
}

interface RecordRequest {
  readonly recordOf: readonly ChannelRef[];
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

const NEGOTIATED: readonly Format[] = FORMATS.filter((format) => formatRow(format).isNegotiated);

/** Browsers send a handful of different values; anything else is a client of its own. */
const MAX_REMEMBERED = 500;
const MAX_REMEMBERED_LENGTH = 300;
const parsed = new LRUCache<string, readonly Format[]>({ max: MAX_REMEMBERED });

function acceptFieldStats(): HolderStats {
  return { entries: parsed.size, maxEntries: MAX_REMEMBERED };
}

/**
 * The negotiated formats that `Accept` names (RFC 9110 section 12.5.1) with a quality above 0, best first, ties in the
 * order of the format table. `*\/*` and `image/*` name none: whoever sends them has not said that it can show AVIF.
 */
function acceptedFormats(accept: string | undefined): readonly Format[] {
  if (accept === undefined || accept === '') return [];
  const known = parsed.get(accept);
  if (known !== undefined) return known;
  const formats = parseAccept(accept);
  if (accept.length <= MAX_REMEMBERED_LENGTH) parsed.set(accept, formats);
  return formats;
}

function parseAccept(accept: string): readonly Format[] {
  const qualities = new Map<Format, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const format = NEGOTIATED.find((candidate) => type === formatRow(candidate).mediaType);
    if (format !== undefined) qualities.set(format, Math.max(qualities.get(format) ?? 0, qualityOf(parameters)));
  }
  return NEGOTIATED.filter((format) => (qualities.get(format) ?? 0) > 0).sort(
    (a, b) => (qualities.get(b) ?? 0) - (qualities.get(a) ?? 0),
  );
}

/** True if the field names JSON, and no image type. */
function acceptsOnlyJson(accept: string | undefined): boolean {
  const types = accept !== undefined && /json/i.test(accept) ? accept.toLowerCase().split(',').map(acceptedTypeOf) : [];
  return types.includes('application/json') && !types.some((type) => type.startsWith('image/'));
}

/** The media type of a range, or nothing if its quality is 0. */
function acceptedTypeOf(range: string): string {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  return qualityOf(parameters) > 0 ? type : '';
}

const QVALUE = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** 1 where none is given, 0 where it is not one: a range that cannot be understood names nothing. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const match = QVALUE.exec(given);
  return match === null ? 0 : Number(match[1]);
}

/** What a picture's path says. Query parameters may add to it. */
export interface PicturePath {
  readonly refs: readonly ChannelRef[];
  readonly variant: Variant | undefined;
  readonly format: Format | undefined;
}

/**
 * Reads `/api/banner/{identifier}[/{variant}]`: a channel ID, an `@handle` or a bare name.
 *
 * @throws AppError `route_not_found` for an unknown variant, `invalid_parameter` for what can be no identifier
 */
export function parseBannerPath(identifier: string, segment?: string): PicturePath {
  const variant = parseVariantSegment(segment);
  const named = splitChannelIdExtension(identifier);
  if (named !== undefined && variant.variant === undefined) {
    if (named.format !== undefined) return { ...variant, refs: refsOfBareIdentifier(named.id), format: named.format };
    throw new AppError('invalid_parameter', `The extension is not one of ${FORMATS.join(', ')}, jpg.`);
  }
  const refs = refsOfBareIdentifier(identifier);
  if (refs.length > 0) return { ...variant, refs };
  throw new AppError(
    'invalid_parameter',
    `${quoted(identifier)} is neither a channel ID ("UC" and 22 characters), nor an @handle, nor a user name.${identifierNote(identifier)}`,
  );
}

/**
 * Reads `/{identifier}` and `/{identifier}/{variant}`. Alone, the identifier must be a channel ID or an `@handle`:
 * scanners ask for every other name there is, and none of them may cause an upstream call.
 *
 * @throws AppError `route_not_found`
 */
function parseShortPath(identifier: string, segment?: string): PicturePath {
  if (segment !== undefined) {
    const refs = identifier === RESERVED_SEGMENT ? [] : refsOfBareIdentifier(identifier);
    if (refs.length === 0) throw routeNotFound(`/${identifier}/${segment}`);
    return { ...parseVariantSegment(segment), refs };
  }
  const named = splitChannelIdExtension(identifier);
  if (named?.format !== undefined) {
    return { refs: refsOfBareIdentifier(named.id), variant: undefined, format: named.format };
  }
  const refs = isChannelId(identifier) || identifier.startsWith('@') ? refsOfBareIdentifier(identifier) : [];
  if (refs.length > 0) return { refs, variant: undefined, format: undefined };
  throw routeNotFound(`/${identifier}`);
}

/** The extensions that a path may end in. */
export const EXTENSION_LIST = FORMATS.map((format) => `.${formatRow(format).extension}`).join(', ');

/** Everything below `/api/` is the service's own, never a channel's name. */
const RESERVED_SEGMENT = 'api';

function parseVariantSegment(segment: string | undefined): Pick<PicturePath, 'variant' | 'format'> {
  if (segment === undefined) return { variant: undefined, format: undefined };
  const dot = segment.indexOf('.');
  const name = dot === -1 ? segment : segment.slice(0, dot);
  const format = dot === -1 ? undefined : findFormat(segment.slice(dot + 1));
  if (isVariant(name) && (dot === -1 || format !== undefined)) return { variant: name, format };
  throw new AppError(
    'route_not_found',
    `There is no picture ${quoted(segment)}: the last part of the path is one of ${VARIANTS.join(', ')}, perhaps with an extension (${EXTENSION_LIST}).`,
  );
}

const CHANNEL_ID_WITH_EXTENSION = /^(UC[A-Za-z0-9_-]{22})\.(.*)$/;

function splitChannelIdExtension(identifier: string): { id: string; format: Format | undefined } | undefined {
  const [, id, extension] = CHANNEL_ID_WITH_EXTENSION.exec(identifier) ?? [];
  return id === undefined || extension === undefined ? undefined : { id, format: findFormat(extension) };
}

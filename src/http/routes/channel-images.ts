import type { ExampleChannel } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { FORMAT_NAMES, type Format, findFormat, formatRow } from '../../domain/formats.ts';
import { type Identifier, identifierOfId, identifiersOfBareName, isChannelId } from '../../domain/identifier.ts';
import { isVariant, MAX_PADDED_SQUARE_PX, VARIANTS, type Variant } from '../../domain/variants.ts';
import type { Image, ImageRequest, ImageService } from '../../images/image-service.ts';
import { quoted } from '../../lib/printable.ts';
import { acceptedFormats, acceptsOnlyJson } from '../request/accept.ts';
import {
  defineEndpoint,
  disconnectSignal,
  type Endpoint,
  type PathParameter,
  type PathParameters,
  type PublicResponse,
  type RequestContext,
  routeNotFound,
} from '../request/context.ts';
import { IMAGE_QUERY, type Values } from '../request/parameters.ts';
import { cacheStatusFields, publicFor } from '../response/fields.ts';
import { type ChannelRouteOptions, IDENTIFIER, parseBareIdentifier, recordResponse } from './channels.ts';

interface ImageRouteOptions extends ChannelRouteOptions {
  readonly channelImages: ImageService;
  /** True when the format follows `Accept`. */
  readonly isNegotiating: boolean;
}

const SHORT_URL = '/:identifier';

/** Banner crops and the avatar, in both URL forms. */
export function imageRoutes(options: ImageRouteOptions): Endpoint[] {
  const { channelImages, isNegotiating } = options;

  /** `undefined` if the response is the record: for `/@handle` and a client that accepts JSON and no image. */
  function readRequest(path: ImagePath, query: ImageQuery, context: RequestContext): ImageRequest | undefined {
    const { accept } = context.request.headers;
    context.isNegotiated = isNegotiating && path.format === undefined && query.format === undefined;
    const { type: typeName, format: formatName, ...appearance } = query;
    const type = typeName === 'phone' ? 'mobile' : typeName;
    const queryFormat = formatName === undefined ? undefined : findFormat(formatName);
    const format = path.format ?? queryFormat;
    assertAgree('type', path.variant, type);
    assertAgree('format', path.format, queryFormat);
    assertPaddable(query);
    const isPlainHandle =
      context.endpoint?.url === SHORT_URL && path.identifiers[0]?.kind === 'handle' && type === undefined;
    if (isPlainHandle && context.isNegotiated && acceptsOnlyJson(accept)) return undefined;
    return {
      identifiers: path.identifiers,
      variant: path.variant ?? type ?? 'default',
      formats: format === undefined ? acceptedFormats(isNegotiating ? accept : undefined) : [format],
      ...appearance,
    };
  }

  async function respond({ path, query }: { path: ImagePath; query: ImageQuery }, context: RequestContext) {
    const request = readRequest(path, query, context);
    if (request === undefined) return recordResponse(options, path.identifiers, context.base);
    const image = await channelImages.getImage(request);
    const withoutBody = responseWithoutBody(image);
    return { ...withoutBody, complete: () => encode(image, withoutBody, context) };
  }

  async function encode(image: Image, withoutBody: PublicResponse, context: RequestContext): Promise<PublicResponse> {
    const { bytes: body, outcome } = await image.render(() => disconnectSignal(context));
    const headers = { ...withoutBody.headers, ...cacheStatusFields(outcome) };
    return { ...withoutBody, headers, body, outcome };
  }

  const shared = { tag: 'images', query: IMAGE_QUERY, respond } as const;
  return [
    defineEndpoint({
      ...shared,
      url: '/api/banner/:identifier',
      id: 'Banner',
      summary: 'A channel’s banner or avatar',
      description: DESCRIPTION,
      pathParameters: { identifier: withExtension(IDENTIFIER.description) },
      returns: 'Image',
      example: (channel) => imageExample(channel, (variant) => `/api/banner/${channel.channelId}?type=${variant}`),
      parsePath: parseBannerPath,
    }),
    defineEndpoint({
      ...shared,
      url: '/api/banner/:identifier/:variant',
      id: 'BannerVariant',
      summary: 'A crop of a channel’s banner, or its avatar',
      description: `A variant may have an extension (${EXTENSION_LIST}) for the format.`,
      pathParameters: { identifier: IDENTIFIER, variant: VARIANT },
      returns: 'Image',
      parsePath: parseBannerPath,
    }),
    defineEndpoint({
      ...shared,
      url: SHORT_URL,
      id: 'ShortBanner',
      summary: 'A channel’s banner, short form',
      description:
        `The response is that of \`/api/banner/{identifier}\`. For an @handle without \`type\` and \`format\`, a client whose \`Accept\` names ` +
        '`application/json` and no image type gets the record.',
      pathParameters: { identifier: withExtension('A channel ID or an @handle.') },
      returns: 'ImageOrRecord',
      parsePath: parseShortPath,
    }),
    defineEndpoint({
      ...shared,
      url: '/:identifier/:variant',
      id: 'ShortBannerVariant',
      summary: 'A crop or the avatar, short form',
      description: 'The response is that of `/api/banner/{identifier}/{variant}`.',
      pathParameters: { identifier: IDENTIFIER, variant: VARIANT },
      returns: 'Image',
      example: (channel) => imageExample(channel, (variant) => `/${channel.channelId}/${variant}.webp`),
      parsePath: parseShortPath,
    }),
  ];
}

type ImageQuery = Values<typeof IMAGE_QUERY>;

const DESCRIPTION =
  'Crops are centred parts of the original, which is never enlarged. Path and parameters must not contradict each other. ' +
  'A channel ID may have an extension for the format.';

/** The extensions that a path may end in, for messages. */
const EXTENSION_LIST = FORMAT_NAMES.map((name) => `.${name}`).join(', ');

function withExtension(description: string): PathParameter {
  const extension = `A channel ID may have an extension (${EXTENSION_LIST}) for the format.`;
  return { ...IDENTIFIER, description: `${description} ${extension}` };
}

const VARIANT: PathParameter = {
  description: `The crop: ${VARIANTS.join(', ')}. It may have an extension (${EXTENSION_LIST}) for the format.`,
  example: 'tv.avif',
  pattern: `^(?:${VARIANTS.join('|')})(?:\\.(?:${FORMAT_NAMES.join('|')}))?$`,
};

function imageExample({ hasBanner, hasAvatar }: ExampleChannel, pathOf: (variant: string) => string) {
  if (hasBanner) return pathOf('tv');
  return hasAvatar ? pathOf('avatar') : undefined;
}

const DAY_MS = 86_400_000;

function responseWithoutBody(image: Image): PublicResponse {
  const { etag, lastModifiedMs, outcome, format, channelId, variant } = image;
  return {
    status: 200,
    headers: {
      'cache-control': publicFor(DAY_MS),
      etag,
      'last-modified': new Date(lastModifiedMs).toUTCString(),
      ...cacheStatusFields(outcome),
      'content-type': formatRow(format).mediaType,
      // Built from the record only, so that no client text is in a header field.
      'content-disposition': `inline; filename="${channelId}-${variant}.${formatRow(format).extension}"`,
    },
    outcome,
  };
}

function assertPaddable({ width = 1, height = 1, fit }: ImageQuery): void {
  if (fit !== 'contain' || width * height <= MAX_PADDED_SQUARE_PX ** 2) return;
  const limit = `With fit=contain, an image has at most ${MAX_PADDED_SQUARE_PX} × ${MAX_PADDED_SQUARE_PX} pixels in all`;
  throw new AppError('invalid_parameter', `${limit}: choose a smaller width or height, or leave out fit.`);
}

function assertAgree(parameter: string, inPath: string | undefined, inQuery: string | undefined): void {
  if (inPath === undefined || inQuery === undefined || inPath === inQuery) return;
  throw new AppError(
    'invalid_parameter',
    `The path says ${inPath} and the parameter "${parameter}" says ${inQuery}: leave one of them out.`,
  );
}

/** What the path of an image says. Query parameters can complete it. */
interface ImagePath {
  readonly identifiers: readonly Identifier[];
  readonly variant: Variant | undefined;
  readonly format: Format | undefined;
}

/**
 * Reads `/api/banner/{identifier}[/{variant}]`: a channel ID, an `@handle` or a bare name.
 *
 * @throws AppError `route_not_found` for an unknown variant, `invalid_parameter` for an invalid identifier
 */
function parseBannerPath({ identifier = '', variant: segment }: PathParameters): ImagePath {
  const { variant, format } = parseVariantSegment(segment);
  const named = splitChannelIdExtension(identifier);
  if (named !== undefined && variant === undefined) {
    if (named.format !== undefined) return { identifiers: named.identifiers, variant, format: named.format };
    throw new AppError('invalid_parameter', `The extension is not one of ${FORMAT_NAMES.join(', ')}.`);
  }
  return { identifiers: parseBareIdentifier(identifier), variant, format };
}

/**
 * Reads `/{identifier}` and `/{identifier}/{variant}`. Here the identifier must be a channel ID or an `@handle`, because
 * scanners request many other names, and these must not cause calls to YouTube.
 *
 * @throws AppError `route_not_found`
 */
function parseShortPath({ identifier = '', variant: segment }: PathParameters): ImagePath {
  const isAlone = segment === undefined;
  const named = isAlone ? splitChannelIdExtension(identifier) : undefined;
  if (named?.format !== undefined) return { identifiers: named.identifiers, variant: undefined, format: named.format };
  const isName = isAlone ? isChannelId(identifier) || identifier.startsWith('@') : identifier !== RESERVED_SEGMENT;
  const identifiers = isName ? identifiersOfBareName(identifier) : [];
  if (identifiers.length === 0) throw routeNotFound(isAlone ? `/${identifier}` : `/${identifier}/${segment}`);
  return { identifiers, ...parseVariantSegment(segment) };
}

/** Paths below `/api/` are endpoints of the service, never channel names. */
const RESERVED_SEGMENT = 'api';

function parseVariantSegment(segment: string | undefined): Pick<ImagePath, 'variant' | 'format'> {
  if (segment === undefined) return { variant: undefined, format: undefined };
  const [, name = '', extension] = /^([^.]*)(?:\.(.*))?$/s.exec(segment) ?? [];
  const format = findFormat(extension ?? '');
  if (isVariant(name) && (extension === undefined || format !== undefined)) return { variant: name, format };
  throw new AppError(
    'route_not_found',
    `There is no image ${quoted(segment)}: the last part of the path is one of ${VARIANTS.join(', ')}, optionally with an extension (${EXTENSION_LIST}).`,
  );
}

const CHANNEL_ID_WITH_EXTENSION = /^(UC[A-Za-z0-9_-]{22})\.(.*)$/;

function splitChannelIdExtension(identifier: string): Pick<ImagePath, 'identifiers' | 'format'> | undefined {
  const [, id, extension = ''] = CHANNEL_ID_WITH_EXTENSION.exec(identifier) ?? [];
  return id === undefined ? undefined : { identifiers: [identifierOfId(id)], format: findFormat(extension) };
}

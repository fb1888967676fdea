import { AppError } from '../../domain/errors.ts';
import { FORMATS, type Format, findFormat, formatRow } from '../../domain/formats.ts';
import { type ChannelRef, isChannelId, refsOfBareIdentifier } from '../../domain/identifier.ts';
import { isVariant, VARIANTS, type Variant } from '../../domain/variants.ts';

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
    'The identifier is neither a channel ID ("UC" and 22 characters), nor an @handle, nor a user name.',
  );
}

/**
 * Reads `/{identifier}` and `/{identifier}/{variant}`. Alone, the identifier must be a channel ID or an `@handle`:
 * scanners ask for every other name there is, and none of them may cause an upstream call.
 *
 * @throws AppError `route_not_found`
 */
export function parseShortPath(identifier: string, segment?: string): PicturePath {
  if (segment !== undefined) {
    const refs = identifier === RESERVED_SEGMENT ? [] : refsOfBareIdentifier(identifier);
    if (refs.length === 0) throw routeNotFound();
    return { ...parseVariantSegment(segment), refs };
  }
  const named = splitChannelIdExtension(identifier);
  if (named?.format !== undefined) {
    return { refs: refsOfBareIdentifier(named.id), variant: undefined, format: named.format };
  }
  const refs = isChannelId(identifier) || identifier.startsWith('@') ? refsOfBareIdentifier(identifier) : [];
  if (refs.length > 0) return { refs, variant: undefined, format: undefined };
  throw routeNotFound();
}

/** The extensions that a path may end in. */
export const EXTENSION_LIST = FORMATS.map((format) => `.${formatRow(format).extension}`).join(', ');

/** Everything below `/api/` is the service's own, never a channel's name. */
const RESERVED_SEGMENT = 'api';

export function routeNotFound(): AppError {
  return new AppError('route_not_found', 'There is nothing at this path. GET / lists the endpoints.');
}

function parseVariantSegment(segment: string | undefined): Pick<PicturePath, 'variant' | 'format'> {
  if (segment === undefined) return { variant: undefined, format: undefined };
  const dot = segment.indexOf('.');
  const name = dot === -1 ? segment : segment.slice(0, dot);
  const format = dot === -1 ? undefined : findFormat(segment.slice(dot + 1));
  if (isVariant(name) && (dot === -1 || format !== undefined)) return { variant: name, format };
  throw new AppError(
    'route_not_found',
    `There is no such picture: the last part of the path is one of ${VARIANTS.join(', ')}, perhaps with an extension (${EXTENSION_LIST}).`,
  );
}

const CHANNEL_ID_WITH_EXTENSION = /^(UC[A-Za-z0-9_-]{22})\.(.*)$/;

function splitChannelIdExtension(identifier: string): { id: string; format: Format | undefined } | undefined {
  const [, id, extension] = CHANNEL_ID_WITH_EXTENSION.exec(identifier) ?? [];
  return id === undefined || extension === undefined ? undefined : { id, format: findFormat(extension) };
}

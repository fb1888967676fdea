import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { type Format, findFormat, formatRow } from '../../domain/formats.ts';
import { VARIANTS } from '../../domain/variants.ts';
import type { Clock } from '../../lib/clock.ts';
import { withinMs } from '../../lib/deadline.ts';
import type { BannerService, Picture, PictureRequest } from '../../services/banners.ts';
import { completeObject } from '../openapi/json-schema.ts';
import { answersOf, PICTURE, PICTURE_ERRORS } from '../openapi/schemas.ts';
import { acceptedFormats } from '../request/accept.ts';
import { createQueryReader, PICTURE_QUERY } from '../request/params.ts';
import { EXTENSION_LIST, type PicturePath, parseBannerPath, parseShortPath } from '../request/picture-path.ts';
import { findUnchangedEtag } from '../response/conditional.ts';
import { type Answer, cacheStatusOf } from '../response/send.ts';
import { addEndpoint, goneSignal } from './endpoint.ts';

export interface BannerRouteDeps {
  readonly clock: Clock;
  readonly banners: BannerService;
  /** Whether the format follows `Accept`. */
  readonly isNegotiating: boolean;
}

/** Less than a request may take at all: what is late from here on waits for an encoder, and upstream is not to blame. */
const PICTURE_DEADLINE_MS = 11_000;

/** Banner crops and the avatar, in both URL forms. */
export function addBannerRoutes(app: FastifyInstance, { clock, banners, isNegotiating }: BannerRouteDeps): void {
  const readQuery = createQueryReader(PICTURE_QUERY);

  function pictureRequest(path: PicturePath, request: FastifyRequest): PictureRequest {
    const query = request.query as Record<string, unknown>;
    request.exchange.isNegotiated = isNegotiating && path.format === undefined && query.format === undefined;
    const { type, format: formatName, width, height, quality } = readQuery(query);
    const asked = formatName === undefined ? undefined : findFormat(formatName);
    assertAgree('type', path.variant, type);
    assertAgree('format', path.format, asked);
    const variant = path.variant ?? type ?? 'default';
    const formats = formatsOf(path.format ?? asked, request);
    return { refs: path.refs, variant, formats, width, height, quality };
  }

  function formatsOf(format: Format | undefined, request: FastifyRequest): readonly Format[] {
    if (format !== undefined) return [format];
    return isNegotiating ? acceptedFormats(request.headers.accept) : [];
  }

  async function answer(path: PicturePath, request: FastifyRequest): Promise<Answer> {
    const startedAtMs = clock.monotonic();
    const picture = await banners.getPicture(pictureRequest(path, request));
    const { etag, earlierEtags, lastModifiedMs, outcome } = picture;
    const headers = {
      'cache-control': 'public, max-age=86400',
      etag,
      'last-modified': httpDate(lastModifiedMs),
    };
    const validators = { etag, earlierEtags, lastModifiedMs };
    const unchangedEtag = findUnchangedEtag(request.headers, validators);
    if (unchangedEtag !== undefined) {
      const notModified = { ...headers, etag: unchangedEtag, 'cache-status': cacheStatusOf(outcome) };
      return { status: 304, headers: notModified, cache: outcome.kind };
    }
    const client = request.exchange.admission?.client.key ?? '';
    const rendering = picture.render({ client, goneSignal: () => goneSignal(request) });
    const made = await withinMs(clock, rendering, Math.max(1, PICTURE_DEADLINE_MS - (clock.monotonic() - startedAtMs)));
    if (made === undefined) throw new AppError('overloaded', 'The picture is still being made: please ask again.');
    const { bytes, isStored, isCollapsed } = made;
    const rendered = isStored ? outcome : { ...outcome, kind: 'miss' as const, isStored: true, isCollapsed };
    const answer = {
      status: 200,
      headers: {
        ...headers,
        'cache-status': cacheStatusOf(rendered),
        'content-type': formatRow(picture.format).mediaType,
        'content-disposition': `inline; filename="${fileNameOf(picture)}"`,
      },
      body: bytes,
      cache: rendered.kind,
    };
    return rendered.kind === 'hit' ? { ...answer, repeatableBy: validators } : answer;
  }

  const identifier = { type: 'string', description: 'A channel ID, an @handle or a name.' };
  const short = { type: 'string', description: 'A channel ID or an @handle; with a variant, a name too.' };
  const variant = {
    type: 'string',
    enum: VARIANTS,
    description: `Which crop; an extension (${EXTENSION_LIST}) may follow and says the encoding.`,
  };
  const description =
    'Crops are centred parts of the original, which is never enlarged. `width` and `height` together take the largest ' +
    'rectangle of that ratio inside the crop. What the path and a parameter say twice has to agree.';
  const shared = { description, querystring: PICTURE_QUERY, response: answersOf(PICTURE, PICTURE_ERRORS) };

  addEndpoint(
    { app, clock },
    {
      url: '/api/banner/:identifier',
      schema: { summary: 'A channel’s banner or avatar', params: completeObject({ identifier }), ...shared },
      parsePath: (request) => parseBannerPath(paramsOf(request).identifier, undefined),
      answer,
    },
  );
  addEndpoint(
    { app, clock },
    {
      url: '/api/banner/:identifier/:variant',
      schema: {
        summary: 'A crop of a channel’s banner, or its avatar',
        params: completeObject({ identifier, variant }),
        ...shared,
      },
      parsePath: (request) => parseBannerPath(paramsOf(request).identifier, paramsOf(request).variant),
      answer,
    },
  );
  addEndpoint(
    { app, clock },
    {
      url: '/:identifier',
      schema: { summary: 'A channel’s banner, short form', params: completeObject({ identifier: short }), ...shared },
      parsePath: (request) => parseShortPath(paramsOf(request).identifier, undefined),
      answer,
    },
  );
  addEndpoint(
    { app, clock },
    {
      url: '/:identifier/:variant',
      schema: {
        summary: 'A crop or the avatar, short form',
        params: completeObject({ identifier: short, variant }),
        ...shared,
      },
      parsePath: (request) => parseShortPath(paramsOf(request).identifier, paramsOf(request).variant),
      answer,
    },
  );
}

function paramsOf(request: FastifyRequest): { identifier: string; variant: string } {
  return request.params as { identifier: string; variant: string };
}

function assertAgree(parameter: string, inPath: string | undefined, inQuery: string | undefined): void {
  if (inPath === undefined || inQuery === undefined || inPath === inQuery) return;
  throw new AppError(
    'invalid_parameter',
    `The path says ${inPath} and the parameter "${parameter}" says ${inQuery}: leave one of them out.`,
  );
}

/** Made of the record alone: nothing that the client wrote goes into a header. */
function fileNameOf({ channelId, variant, format }: Picture): string {
  return `${channelId}-${variant}.${formatRow(format).extension}`;
}

function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

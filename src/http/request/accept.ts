import { type Format, formatRow, NEGOTIATED_FORMATS } from '../../domain/formats.ts';

/**
 * The negotiated formats that `Accept` names (RFC 9110 section 12.5.1) with a quality above 0, best first, ties in the
 * order of the format table. `*\/*` and `image/*` name none, because they do not show that the client supports AVIF.
 */
export function acceptedFormats(accept: string | undefined): readonly Format[] {
  if (accept === undefined) return [];
  const qualities = readAccept(accept);
  const qualityOfFormat = (format: Format) => qualities.get(formatRow(format).mediaType) ?? 0;
  const formats = NEGOTIATED_FORMATS.filter((format) => qualityOfFormat(format) > 0);
  return formats.sort((a, b) => qualityOfFormat(b) - qualityOfFormat(a));
}

/** True if the field names JSON, and no image type. */
export function acceptsOnlyJson(accept = ''): boolean {
  if (!/json/i.test(accept)) return false;
  const types = [...readAccept(accept)].filter(([, quality]) => quality > 0).map(([type]) => type);
  return types.includes('application/json') && !types.some((type) => type.startsWith('image/'));
}

/** Browsers send some 150. What follows is not read. */
const MAX_CHARACTERS = 2_000;

/** The media ranges of the field, each with its highest quality. */
function readAccept(accept: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const range of accept.slice(0, MAX_CHARACTERS).toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    qualities.set(type, Math.max(qualities.get(type) ?? 0, qualityOf(parameters)));
  }
  return qualities;
}

const QVALUE = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** 1 if there is none, 0 if it is invalid, because an invalid range names no format. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  return given === undefined ? 1 : Number(QVALUE.exec(given)?.[1] ?? 0);
}

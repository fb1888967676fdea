import { LRUCache } from 'lru-cache';
import { FORMATS, type Format, formatRow } from '../../domain/formats.ts';
import type { HolderStats } from '../../lib/holders.ts';

const NEGOTIATED: readonly Format[] = FORMATS.filter((format) => formatRow(format).isNegotiated);

/** Browsers send a handful of different values; anything else is a client of its own. */
const MAX_REMEMBERED = 500;
const MAX_REMEMBERED_LENGTH = 300;
const parsed = new LRUCache<string, readonly Format[]>({ max: MAX_REMEMBERED });

export function acceptFieldStats(): HolderStats {
  return { entries: parsed.size, maxEntries: MAX_REMEMBERED };
}

/**
 * The negotiated formats that `Accept` names (RFC 9110 section 12.5.1) with a quality above 0, best first, ties in the
 * order of the format table. `*\/*` and `image/*` name none: whoever sends them has not said that it can show AVIF.
 */
export function acceptedFormats(accept: string | undefined): readonly Format[] {
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

const QVALUE = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** 1 where none is given, 0 where it is not one: a range that cannot be understood names nothing. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const match = QVALUE.exec(given);
  return match === null ? 0 : Number(match[1]);
}

import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../../domain/channel.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { walk } from '../json.ts';
import { type FieldReadings, readFields } from './fields.ts';
import { layoutOf, OBJECT_NAMES, type ObjectLayout, type ObjectName } from './objects.ts';

/** What one object of a response says. */
export interface Reading {
  readonly object: ObjectName;
  readonly part: ObjectLayout['part'];
  /** Its name in the response. */
  readonly name: string;
  readonly fields: FieldReadings;
}

const OBJECT_OF = new Map(OBJECT_NAMES.flatMap((object) => layoutOf(object).names.map((name) => [name, object])));

/** A page has five objects at most. */
const MAX_READINGS = 50;

/** Reads the objects of a response, wherever they are. Returns nothing if there are too many to compare. */
export function readObjects(response: JsonObject): Reading[] {
  const readings: Reading[] = [];
  for (const [member, content] of Object.entries(response)) {
    walk({ [member]: content }, (value, name = '') => {
      const object = OBJECT_OF.get(name);
      if (object === undefined || !isJsonObject(value)) return readings.length <= MAX_READINGS;
      const layout = layoutOf(object);
      const isRead = member !== 'contents' || layout.isContent;
      if (isRead) readings.push({ object, part: layout.part, name, fields: readFields(value, layout) });
      return readings.length <= MAX_READINGS;
    });
  }
  return readings.length > MAX_READINGS ? [] : inOrder(readings);
}

/** Puts readings in the order of `OBJECTS`. Those of one object keep their order. */
export function inOrder(readings: readonly Reading[]): Reading[] {
  return readings.toSorted((one, other) => OBJECT_NAMES.indexOf(one.object) - OBJECT_NAMES.indexOf(other.object));
}

export function hasObject(readings: readonly Reading[], ...objects: readonly ObjectName[]): boolean {
  return readings.some(({ object }) => objects.includes(object));
}

/** The first value of the field. */
export function valueIn<Field extends keyof Channel>(
  field: Field,
  ...readings: readonly Reading[]
): Channel[Field] | undefined {
  const values = readings.map(({ fields }) => fields[field]?.value);
  // The reader of a field returns values of its type.
  return values.find((value) => value !== undefined) as Channel[Field] | undefined;
}

/** The readings without those of parts that a response has several times in different forms, also without values. */
export function unambiguous(readings: readonly Reading[]): Reading[] {
  return readings.filter(({ part, fields }) =>
    readings.every((other) => other.part !== part || isDeepStrictEqual(other.fields, fields)),
  );
}

/** The readings without those of objects that name another channel, by its ID or else by its handle. */
export function ofChannel(channelId: string, readings: readonly Reading[]): Reading[] {
  const isNamed = (reading: Reading) => valueIn('channelId', reading) === channelId;
  const handle = valueIn('customUrl', ...readings.filter(isNamed));
  return readings.filter((reading) => {
    const shown = valueIn('customUrl', reading) ?? handle;
    const isOfHandle = handle === undefined || shown?.toLowerCase() === handle?.toLowerCase();
    return isNamed(reading) || (valueIn('channelId', reading) === undefined && isOfHandle);
  });
}

/**
 * The readings of the page's channel. That is the requested one, unless the page names others only, and the metadata name one of
 * them: to this one YouTube has redirected, if no object has another title.
 */
export function ofPage(requestedId: string, readings: readonly Reading[]): Reading[] {
  const isRequested = readings.some((reading) => valueIn('channelId', reading) === requestedId);
  const titles = readings.map((reading) => valueIn('title', reading)).filter((title) => title !== undefined);
  const metadata = unambiguous(readings.filter(({ object }) => object === 'metadata'));
  const target = isRequested || new Set(titles).size > 1 ? undefined : valueIn('channelId', ...metadata);
  return unambiguous(ofChannel(target ?? requestedId, readings));
}

import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../../domain/channel.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { walk } from '../json.ts';
import { type FieldReadings, readFields } from './fields.ts';
import { layoutOf, OBJECT_NAMES, type ObjectName } from './objects.ts';

/** What one object of a response says. */
export interface Reading {
  readonly object: ObjectName;
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
  for (const [part, content] of Object.entries(response)) {
    walk({ [part]: content }, (value, name = '') => {
      const object = OBJECT_OF.get(name);
      if (object === undefined || !isJsonObject(value)) return true;
      const layout = layoutOf(object);
      if (part !== 'contents' || layout.isContent) readings.push({ object, name, fields: readFields(value, layout) });
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
  readings: readonly Reading[],
): Channel[Field] | undefined {
  const found = readings.map(({ fields }) => fields[field]).find((reading) => reading && 'value' in reading);
  // The reader of a field returns values of its type.
  return found && 'value' in found ? (found.value as Channel[Field]) : undefined;
}

/** The readings without those of parts that a response has several times in different forms, also without values. */
export function unambiguous(readings: readonly Reading[]): Reading[] {
  const isSame = (one: Reading, other: Reading) =>
    layoutOf(one.object).part !== layoutOf(other.object).part || isDeepStrictEqual(one.fields, other.fields);
  return readings.filter((reading) => readings.every((other) => isSame(reading, other)));
}

/** The readings without those of objects that name another channel, by its ID or else by its handle. */
export function ofChannel(channelId: string, readings: readonly Reading[]): Reading[] {
  const idOf = (reading: Reading) => valueIn('channelId', [reading]);
  const notOfOthers = readings.filter((reading) => (idOf(reading) ?? channelId) === channelId);
  const handle = valueIn(
    'customUrl',
    notOfOthers.filter((reading) => idOf(reading) !== undefined),
  )?.toLowerCase();
  const isOfHandle = (reading: Reading) => {
    const named = valueIn('customUrl', [reading])?.toLowerCase();
    return idOf(reading) !== undefined || handle === undefined || named === undefined || named === handle;
  };
  return notOfOthers.filter(isOfHandle);
}

/**
 * The readings of the page's channel. That is the requested one, unless the page names others only, and the metadata name one of
 * them: to this one YouTube has redirected, if no object has another title.
 */
export function ofPage(requestedId: string, readings: readonly Reading[]): Reading[] {
  const isRequested = readings.some((reading) => valueIn('channelId', [reading]) === requestedId);
  const titles = readings.map((reading) => valueIn('title', [reading])).filter((title) => title !== undefined);
  const metadata = unambiguous(readings.filter(({ object }) => object === 'metadata'));
  const target = isRequested || new Set(titles).size > 1 ? undefined : valueIn('channelId', metadata);
  return unambiguous(ofChannel(target ?? requestedId, readings));
}

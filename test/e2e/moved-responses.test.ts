import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channel, SearchHit } from '../../src/domain/channel.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { valuesNamed } from '../../src/sources/json.ts';
import { CHANNEL_FIELDS } from '../../src/sources/youtube/fields.ts';
import { layoutOf, OBJECT_NAMES } from '../../src/sources/youtube/objects.ts';
import { readAbout, readPage } from '../../src/sources/youtube/page.ts';
import { readObjects } from '../../src/sources/youtube/readings.ts';
import { buildRecord } from '../../src/sources/youtube/record.ts';
import { readSearchPage } from '../../src/sources/youtube/search-page.ts';
import { isChannelPage, isOfDataApi, isPanel, readIndexedResponses } from '../helpers/indexed-responses.ts';
import {
  type IndexedResponse,
  OWN_RECORDINGS,
  OWN_RESPONSES,
  RECORDING_DIRECTORIES,
  readResponses,
} from '../helpers/replay-responses.ts';
import { runsOf } from '../helpers/runs.ts';

/*
 * YouTube moves the objects of its responses: it wraps and renames what is around them, adds members and changes their order. A
 * record must then have the same values. It must never have a value of another channel.
 */

const NAMES = OBJECT_NAMES.flatMap((object) => layoutOf(object).names);

/** Objects whose members stay what they are. Everything around them may change. */
const LEAVES: ReadonlySet<string | undefined> = new Set([
  ...NAMES,
  'channelRenderer',
  'lockupViewModel',
  'continuationItemRenderer',
  'continuationItemViewModel',
]);

interface Place {
  /** 0 for the members of the response. */
  readonly depth: number;
  readonly isInLeaf: boolean;
  readonly draw: () => number;
}

/** Changes an object or a list whose inner values are changed already. */
type Change = (node: object, place: Place) => unknown;

function changeAll(value: unknown, change: Change, place: Place): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inside = (name?: string) => ({
    ...place,
    depth: place.depth + 1,
    isInLeaf: place.isInLeaf || LEAVES.has(name),
  });
  const changed = Array.isArray(value)
    ? value.map((element: unknown) => changeAll(element, change, inside()))
    : Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, changeAll(member, change, inside(name))]),
      );
  return change(changed, place);
}

const isChance = (draw: () => number, part: number) => draw() < part;

const CHANGES = {
  'unknown members': (node, { draw }) =>
    Array.isArray(node) || isChance(draw, 0.5) ? node : { unknownViewModel: { title: 'x', id: [{ y: 1 }] }, ...node },
  'members in another order': (node) =>
    Array.isArray(node) ? node : Object.fromEntries(Object.entries(node).reverse()),
  'elements of lists in one object more': (node, { isInLeaf }) =>
    Array.isArray(node) && !isInLeaf
      ? node.map((item: unknown) => (typeof item === 'object' ? { wrapper: item } : item))
      : node,
  'containers with other names': (node, { depth, isInLeaf }) =>
    Array.isArray(node) || isInLeaf || depth === 0 ? node : renamed(node),
  'containers in one object more': (node, { depth, isInLeaf }) =>
    Array.isArray(node) || isInLeaf || depth === 0 ? node : { moved: node },
  'containers in lists': (node, { depth, isInLeaf }) =>
    Array.isArray(node) || isInLeaf || depth === 0 ? node : [node],
  'lists as objects': (node, { isInLeaf }) =>
    Array.isArray(node) && !isInLeaf ? Object.fromEntries(Object.entries(node)) : node,
  'texts in another form': (node) => (isJsonObject(node) ? inAnotherForm(node) : node),
} satisfies Record<string, Change>;

function inAnotherForm(node: JsonObject): object {
  const { simpleText, content, runs, ...rest } = node;
  if (typeof simpleText === 'string') return { ...rest, runs: [{ text: simpleText }] };
  if (typeof content === 'string') return { ...rest, simpleText: content };
  const texts = Array.isArray(runs) ? runs.map((run: unknown) => (isJsonObject(run) ? run.text : undefined)) : [];
  if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return { ...rest, content: texts.join('') };
  return node;
}

function renamed(node: object): object {
  return Object.fromEntries(
    Object.entries(node).map(([name, member], index) => [
      LEAVES.has(name) || typeof member !== 'object' ? name : `moved${index}`,
      member as unknown,
    ]),
  );
}

/** All changes, each at some places only; and objects of other channels among the members of some. */
function changeAnywhere(
  body: JsonObject,
  changes: readonly Change[],
  draw: () => number,
  others: readonly JsonObject[] = [],
): JsonObject {
  const pick = <T>(values: readonly T[]) => values[Math.floor(draw() * values.length)];
  const mixed: Change = (node, place) => {
    const change = place.depth === 0 ? undefined : pick(changes);
    const changed = change === undefined || isChance(draw, 0.7) ? node : change(node, place);
    if (place.isInLeaf || !isJsonObject(changed) || others.length === 0 || isChance(draw, 0.8)) return changed;
    return isChance(draw, 0.5) ? { planted: [pick(others)], ...changed } : { ...changed, planted: pick(others) };
  };
  return changeAll(body, mixed, { depth: 0, isInLeaf: false, draw }) as JsonObject;
}

/** Draws numbers in 0 … 1 from a seed (a linear congruential generator). */
function drawFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function changeWith(change: Change, body: JsonObject): JsonObject {
  return changeAll(body, change, { depth: 0, isInLeaf: false, draw: drawFrom(1) }) as JsonObject;
}

const isSearch = ({ request }: IndexedResponse) => request.url.includes('/youtubei/v1/search');
const hitsIn = (body: JsonObject) => readSearchPage(body) ?? [];

/** The values of a record from this response, with a page that has a title only if it is a panel; none if there is no record. */
function valuesIn(response: IndexedResponse, body: JsonObject): Channel | undefined {
  const { channelId } = response.expected as { channelId: string };
  const titled = { metadata: { channelMetadataRenderer: { externalId: channelId, title: 'T' } } };
  const page = readPage(isPanel(response) ? titled : body, channelId);
  return buildRecord(channelId, page, isPanel(response) ? readAbout(body) : [])?.channel;
}

/** The fields that have a value, and those of them that have the same one now. @throws for a value that was not there before */
function compare(own: JsonObject, before: Channel | undefined, after: Channel | undefined) {
  const fields = CHANNEL_FIELDS.filter((field) => (before?.[field] ?? null) !== null);
  for (const field of CHANNEL_FIELDS) {
    const known = readObjects(own).map(({ fields }) => fields[field]);
    const values = [null, before?.[field], ...known.map((reading) => reading?.value)];
    if (after !== undefined) expect(values, `${field} of ${before?.title}`).toContainEqual(after[field]);
  }
  return { fields, same: fields.filter((field) => isDeepStrictEqual(after?.[field], before?.[field])) };
}

/** The response without the objects of this name. */
function withoutObject(body: JsonObject, name: string): JsonObject {
  return JSON.parse(JSON.stringify(body, (member: string, value: unknown) => (member === name ? undefined : value)));
}

const RUNS = runsOf(300);
/** Recordings are larger than the project's own responses. */
const RUNS_OF_RECORDINGS = 2;

// youtube-service.test.ts compares all their values.
it('the project’s own responses have a value at every member of every object', () => {
  const bodies = [OWN_RESPONSES, ...OWN_RECORDINGS]
    .flatMap(readResponses)
    .flatMap(({ text }) => (text.startsWith('{') ? [JSON.parse(text) as JsonObject] : []));
  const members = bodies
    .flatMap(readObjects)
    .flatMap(({ object, fields }) =>
      Object.entries(fields).map(
        ([field, reading]) => reading.value !== undefined && `${object} ${field} ${reading.member}`,
      ),
    );
  const known = OBJECT_NAMES.flatMap((object) =>
    Object.entries(layoutOf(object).members).flatMap(([field, paths]) =>
      paths.map((path) => `${object} ${field} ${path}`),
    ),
  );
  expect(members).toEqual(expect.arrayContaining(known));
});

for (const directory of [OWN_RESPONSES, ...OWN_RECORDINGS, ...RECORDING_DIRECTORIES]) {
  const responses = readIndexedResponses(directory)
    .filter((response) => !isOfDataApi(response) && !response.file.endsWith('.xml'))
    .map((response) => ({ ...response, body: JSON.parse(response.text) as JsonObject }));
  const records = responses
    .filter((response) => isChannelPage(response) || isPanel(response))
    .map((response) => ({ ...response, values: valuesIn(response, response.body) }))
    .filter(({ values }) => values !== undefined);
  const searches = responses.filter(isSearch).map((response) => ({ ...response, hits: hitsIn(response.body) }));
  /** Every object of every channel. */
  const objects = records.flatMap(({ body, expected }) =>
    NAMES.flatMap((name) => valuesNamed(body, name).map((object) => ({ expected, planted: { [name]: object } }))),
  );

  describe(`responses whose objects have moved (${basename(directory)})`, () => {
    it.each(Object.entries<Change>(CHANGES))('have all values and all hits: %s', (_name, change) => {
      for (const { file, body, values, ...response } of records) {
        const { fields, same } = compare(body, values, valuesIn({ file, ...response }, changeWith(change, body)));
        expect(same, file).toEqual(fields);
      }
      for (const { file, body, hits } of searches) {
        expect(hitsIn(changeWith(change, body)), file).toEqual(hits);
      }
    });

    it('never have a value of another channel, whatever moves, and wherever objects of other channels are', () => {
      const changes = Object.values<Change>(CHANGES);
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const draw = drawFrom(seed);
          for (const { body, values, ...response } of records) {
            const others = objects.filter(({ expected }) => !isSameChannel(expected, response.expected));
            const moved = changeAnywhere(
              body,
              changes,
              draw,
              others.map(({ planted }) => planted),
            );
            compare(body, values, valuesIn(response, moved));
          }
          for (const { body, hits } of searches) {
            const moved = hitsIn(changeAnywhere(body, changes, draw));
            const idsOf = (list: readonly SearchHit[]) => list.map(({ channelId }) => channelId);
            expect(idsOf(hits)).toEqual(expect.arrayContaining(idsOf(moved)));
          }
        }),
        { numRuns: directory === OWN_RESPONSES ? RUNS : RUNS_OF_RECORDINGS },
      );
    });

    it('lack only values of an object that is deleted', () => {
      for (const { file, body, values, ...response } of records) {
        for (const name of NAMES.filter((each) => valuesNamed(body, each).length > 0)) {
          const { fields, same } = compare(body, values, valuesIn({ file, ...response }, withoutObject(body, name)));
          const deleted = readObjects(body).find((reading) => reading.name === name)?.fields ?? {};
          const others = fields.filter((field) => !Object.hasOwn(deleted, field));
          if (!Object.hasOwn(deleted, 'title')) expect(same, `${file} ${name}`).toEqual(expect.arrayContaining(others));
        }
      }
    });
  });
}

function isSameChannel(one: unknown, other: unknown): boolean {
  return (one as Channel).channelId === (other as Channel).channelId;
}

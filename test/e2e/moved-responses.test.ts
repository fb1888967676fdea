import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channel } from '../../src/domain/channel.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import type { FieldReading } from '../../src/sources/youtube/fields.ts';
import { CHANNEL_FIELDS, CHANNEL_LAYOUTS } from '../../src/sources/youtube/layouts.ts';
import { readPage, readPanel } from '../../src/sources/youtube/readings.ts';
import { findBest } from '../../src/sources/youtube/record.ts';
import { readSearchPage } from '../../src/sources/youtube/search-page.ts';
import { isChannelPage, isOfDataApi, isPanel, readIndexedResponses } from '../helpers/indexed-responses.ts';
import { type IndexedResponse, OWN_RESPONSES, RECORDING_DIRECTORIES } from '../helpers/replay-responses.ts';
import { runsOf } from '../helpers/runs.ts';

/*
 * YouTube moves the parts of its responses: it wraps and renames containers, adds members and changes their order. A
 * record must then have the same values, or lack some. It must never have a value of another channel.
 */

/** Kinds whose members stay what they are. Everything around them may change. */
const LEAVES: ReadonlySet<string | undefined> = new Set([
  ...Object.values(CHANNEL_LAYOUTS)
    .flat()
    .map((path) => path.split('.').findLast((step) => /(?:Renderer|ViewModel)$/.test(step))),
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

const OTHER = { id: 'UCofAnotherChannel0000000', image: 'https://yt3.ggpht.com/another=s88' };
const images = [{ url: OTHER.image, width: 88, height: 88 }];
/** What pages show of other channels. */
const OTHER_CHANNELS = [
  {
    gridChannelRenderer: {
      channelId: OTHER.id,
      title: { simpleText: 'Another channel' },
      subscriberCountText: { simpleText: '99M subscribers' },
      videoCountText: { simpleText: '77 videos' },
      thumbnail: { thumbnails: images },
    },
  },
  {
    lockupViewModel: {
      contentId: OTHER.id,
      contentType: 'LOCKUP_CONTENT_TYPE_CHANNEL',
      contentImage: { decoratedAvatarViewModel: { avatar: { avatarViewModel: { image: { sources: images } } } } },
      metadata: {
        lockupMetadataViewModel: {
          title: { dynamicTextViewModel: { text: { content: 'Another channel' } } },
          metadata: {
            contentMetadataViewModel: {
              metadataRows: [
                {
                  metadataParts: ['@another', '99M subscribers', '77 videos'].map((content) => ({ text: { content } })),
                },
              ],
            },
          },
        },
      },
    },
  },
];

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

/** All changes, each at some places only; and other channels in pages. */
function changeAnywhere(
  body: JsonObject,
  changes: readonly Change[],
  draw: () => number,
  hasOthers: boolean,
): JsonObject {
  const mixed: Change = (node, place) => {
    if (place.depth === 0) return node;
    const change = changes[Math.floor(draw() * changes.length)];
    const changed = change === undefined || isChance(draw, 0.7) ? node : change(node, place);
    if (!hasOthers || place.isInLeaf || isChance(draw, 0.9) || !isJsonObject(changed)) return changed;
    return { featuredContent: { items: OTHER_CHANNELS }, ...changed };
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

function fieldsOf(response: IndexedResponse, body: JsonObject): readonly FieldReading[] {
  return isPanel(response) ? readPanel(body).fields : readPage(body).fields;
}

/** The number of values, and of those that are as before. @throws for a value that the response did not have before */
function compareFields(before: readonly FieldReading[], after: readonly FieldReading[]) {
  const same = CHANNEL_FIELDS.filter((field) => {
    const was = findBest(field, before);
    const is = findBest(field, after);
    if (is !== undefined) expect(valuesOf(field, before), field).toContainEqual(is.value);
    return was !== undefined && isDeepStrictEqual(is?.value, was.value);
  });
  return { values: CHANNEL_FIELDS.filter((field) => findBest(field, before) !== undefined).length, same: same.length };
}

const valuesOf = (field: keyof Channel, fields: readonly FieldReading[]) =>
  fields.filter((reading) => reading.field === field).map(({ value }) => value);

const RUNS = runsOf(300);
/** Recordings are larger than the project's own responses. */
const RUNS_OF_RECORDINGS = 2;

for (const directory of [OWN_RESPONSES, ...RECORDING_DIRECTORIES]) {
  const responses = readIndexedResponses(directory)
    .filter((response) => !isOfDataApi(response) && !response.file.endsWith('.xml'))
    .map((response) => ({ ...response, body: JSON.parse(response.text) as JsonObject }));
  const records = responses
    .filter((response) => isChannelPage(response) || isPanel(response))
    .map((response) => ({ ...response, fields: fieldsOf(response, response.body) }));
  const searches = responses.filter(isSearch).map((response) => ({ ...response, page: readSearchPage(response.body) }));

  // youtube-service.test.ts compares all their values.
  if (directory === OWN_RESPONSES) {
    it('the project’s own responses have a value in every known place', () => {
      // The HTML page of a channel has its panel, too.
      const fields = records.flatMap(({ body }) => [...readPage(body).fields, ...readPanel(body).fields]);
      const places = fields.map(({ field, path }) => `${field} ${path}`);
      const known = CHANNEL_FIELDS.flatMap((field) => CHANNEL_LAYOUTS[field].map((path) => `${field} ${path}`));
      expect(places).toEqual(expect.arrayContaining(known));
    });
  }

  describe(`responses whose parts have moved (${basename(directory)})`, () => {
    it.each(Object.entries<Change>(CHANGES))('have most values, no wrong ones, and all hits: %s', (_name, change) => {
      const total = { values: 0, same: 0 };
      for (const response of records) {
        const { values, same } = compareFields(response.fields, fieldsOf(response, changeWith(change, response.body)));
        total.values += values;
        total.same += same;
      }
      expect(total.values).toBeGreaterThan(50);
      expect(total.same / total.values).toBeGreaterThanOrEqual(0.9);
      for (const { file, body, page } of searches) {
        expect(readSearchPage(changeWith(change, body)).hits, file).toEqual(page.hits);
      }
    });

    it('never have a value of another channel, whatever moves', () => {
      const changes = Object.values<Change>(CHANGES);
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const draw = drawFrom(seed);
          for (const response of records) {
            const moved = changeAnywhere(response.body, changes, draw, isChannelPage(response));
            compareFields(response.fields, fieldsOf(response, moved));
          }
          for (const { body, page } of searches) {
            const known = page.hits.map(({ channelId }) => channelId);
            const { hits } = readSearchPage(changeAnywhere(body, changes, draw, false));
            expect(known).toEqual(expect.arrayContaining(hits.map(({ channelId }) => channelId)));
          }
        }),
        { numRuns: directory === OWN_RESPONSES ? RUNS : RUNS_OF_RECORDINGS },
      );
    });
  });
}

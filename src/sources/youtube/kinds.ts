import { firstAt, valuesAt, walk } from '../json.ts';
import { CHANNEL_LAYOUTS, CONTINUATION_ITEMS, LANGUAGE, TOKEN_PATHS } from './layouts.ts';

/*
 * Upstream names its objects by what they are ("pageHeaderViewModel"), and moves them: the objects and lists around them
 * change in its experiments. So values are found by the kind of the object that has them.
 */

/** The values at a path of `layouts.ts`. */
export interface Find {
  (path: string): unknown[];
  /** The same, separately for each object of the path's last kind. */
  byOwner(path: string): { readonly owner: object; readonly values: readonly unknown[] }[];
}

const KIND = /(?:Renderer|ViewModel)$/;

/** Objects of a page that show or open something else, often other channels, and a recorded page that has one. */
const ELSEWHERE: readonly { readonly name: RegExp; readonly seen: string }[] = [
  { name: /^(?:onTap|command|innertubeCommand)$/, seen: 'Gronkh, 2026-07-02' },
  { name: /^show\w*Command$/, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /attribution/i, seen: 'Gronkh, 2026-07-02' },
  { name: /channelRenderer$/i, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /dialog/i, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /listItem/i, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /lockup/i, seen: 'Gronkh, 2026-07-02' },
  { name: /playlist/i, seen: 'Radiohead, 2026-07-02' },
  { name: /popup/i, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /sheet/i, seen: 'Gronkh, 2026-07-02' },
  { name: /shelf/i, seen: 'Linus Tech Tips, 2026-03-18' },
  { name: /stack/i, seen: 'News, 2026-03-18' },
  { name: /video/i, seen: 'Linus Tech Tips, 2026-03-18' },
];

function isElsewhere(name: string): boolean {
  return ELSEWHERE.some((other) => other.name.test(name));
}

/**
 * Finds values by paths. Of a path, the first steps name a part of the response (`page.header`), and the last step that
 * is a kind is found anywhere in this part, but on a page not in items that show something else. The steps after it are
 * followed as they are. If a part has an outer kind twice, nothing is found in it, because one may belong to another channel.
 * What was found is kept, because each part is read for many paths.
 */
export function createFinder(responses: { readonly [response: string]: unknown }): Find {
  const parts = new Map<string, Map<string, object[]>>();
  function byOwner(path: string) {
    const { part, outerKinds, kind, rest } = splitPath(path);
    // Everything in an About response is about its channel.
    const isOfOthers = part.startsWith('page.') ? isElsewhere : () => false;
    const objects = parts.get(part) ?? objectsByKind(firstAt(responses, part), isOfOthers);
    parts.set(part, objects);
    const isAmbiguous = outerKinds.some((outer) => (objects.get(outer)?.length ?? 0) > 1);
    const owners = isAmbiguous ? [] : (objects.get(kind) ?? []);
    return owners.map((owner) => ({ owner, values: rest === '' ? [owner] : valuesAt(owner, rest) }));
  }
  return Object.assign((path: string) => byOwner(path).flatMap(({ values }) => values), { byOwner });
}

/** A path of `layouts.ts`, split at its last kind. */
export function splitPath(path: string): SplitPath {
  const known = splitPaths.get(path) ?? split(path);
  splitPaths.set(path, known);
  return known;
}

/** For the paths of `layouts.ts`, each of which is read in every response. */
const splitPaths = new Map<string, SplitPath>();
type SplitPath = ReturnType<typeof split>;

function split(path: string) {
  const steps = path.split('.');
  const kindAt = steps.findLastIndex((step) => KIND.test(step));
  const listAt = steps.indexOf('*');
  const beforeLists = steps.slice(0, listAt === -1 ? kindAt : Math.min(listAt, kindAt));
  return {
    part: steps.slice(0, steps[0] === 'page' ? 2 : 1).join('.'),
    owner: steps.slice(0, kindAt + 1).join('.'),
    /** The kinds around it that occur once. */
    outerKinds: beforeLists.filter((step) => KIND.test(step)),
    kind: steps[kindAt] ?? '',
    rest: steps.slice(kindAt + 1).join('.'),
  };
}

const KINDS: ReadonlySet<string> = new Set(
  [LANGUAGE, ...Object.values(CHANNEL_LAYOUTS).flat()]
    .flatMap((path) => path.split('.'))
    .filter((step) => KIND.test(step)),
);

/** Pages have two objects of one kind at most. */
const MAX_OWNERS = 100;

function objectsByKind(part: unknown, isOfOthers: (name: string) => boolean): Map<string, object[]> {
  const found = new Map<string, object[]>();
  walk(part, (value, name) => {
    if (name === undefined) return true;
    if (!KINDS.has(name)) return !isOfOthers(name);
    const others = found.get(name);
    if (others === undefined) found.set(name, [value]);
    else if (others.length < MAX_OWNERS) others.push(value);
    return true;
  });
  return found;
}

/** The token of the page after a list; `undefined` at its end. Of several, the one that is nested least. */
export function findContinuationToken(list: unknown): string | undefined {
  let best: { readonly token: string; readonly depth: number } | undefined;
  walk(list, (value, name, depth) => {
    if (name === undefined || !CONTINUATION_ITEMS.includes(name)) return true;
    const token = TOKEN_PATHS.flatMap((path) => valuesAt(value, path)).find((each) => isToken(each));
    if (token !== undefined && (best === undefined || depth < best.depth)) best = { token, depth };
    return false;
  });
  return best?.token;
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

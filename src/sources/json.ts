import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../lib/shape.ts';

export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The elements of a list, which may be an object with the members "0", "1", …; `undefined` for everything else. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && hasOnlyIndexes(Object.keys(value)) ? Object.values(value) : undefined;
}

/** An object has its indexes before its other names. */
const hasOnlyIndexes = (names: readonly string[]) => /^\d{1,6}$/.test(names.at(-1) ?? '');

/** Parses a response; `undefined` for everything but a JSON object. */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), isJsonObject);
}

/** True for HTML and XML. */
export function isMarkup(body: Buffer): boolean {
  return body.subarray(0, 64).toString('utf8').trimStart().startsWith('<');
}

/** True for HTML only. */
export function isHtml(body: Buffer): boolean {
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(body.subarray(0, 64).toString('utf8'));
}

/** Upstream nests 40 levels at most. */
const MAX_DEPTH = 100;
/** A complete channel page has 100,000 objects and lists. */
const MAX_VISITED = 500_000;

/**
 * Visits a value and all objects and lists inside it, in document order, as long as `enter` returns true for the outer
 * one. Takes linear time. Values that are nested too deeply, and those after the first 500,000, are not visited.
 *
 * @param enter gets an object or a list, the member name at which it is (`undefined` for elements of lists), and its depth
 */
export function walk(root: unknown, enter: (value: object, name: string | undefined, depth: number) => boolean): void {
  const pending: { readonly value: unknown; readonly name: string | undefined; readonly depth: number }[] = [
    { value: root, name: undefined, depth: 0 },
  ];
  for (let visited = 0; visited < MAX_VISITED; ) {
    const next = pending.pop();
    if (next === undefined) return;
    const { value, name, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    visited += 1;
    if (!enter(value, name, depth) || depth === MAX_DEPTH) continue;
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    const values: readonly unknown[] = Array.isArray(value) ? value : [];
    const isList = names === undefined || hasOnlyIndexes(names);
    for (let index = (names ?? values).length - 1; index >= 0; index -= 1) {
      const innerName = names?.[index];
      const inner = innerName === undefined ? values[index] : (value as JsonObject)[innerName];
      if (typeof inner === 'object')
        pending.push({ value: inner, name: isList ? undefined : innerName, depth: depth + 1 });
    }
  }
}

/** All values of members with this name, at any depth (`walk`). */
export function valuesNamed(root: unknown, name: string): unknown[] {
  const found: unknown[] = [];
  walk(root, (value) => {
    if (isJsonObject(value) && Object.hasOwn(value, name)) found.push(value[name]);
    return true;
  });
  return found;
}

/** The value that all are; `undefined` if they differ. */
export function onlyOf(values: readonly unknown[]): unknown {
  const [first, ...others] = values;
  return others.every((value) => isDeepStrictEqual(value, first)) ? first : undefined;
}

/**
 * All values at a dotted path, in document order; `*` means every element of a list. A step that is missing or has
 * another type yields nothing, because upstream renames and removes parts at any time. After the first step, a step that
 * is missing in a value with one member or element is looked for in that one: upstream wraps parts in others.
 */
export function valuesAt(root: unknown, path: string): unknown[] {
  let values = [root];
  for (const [index, step] of path.split('.').entries()) {
    const maxWrappings = index === 0 ? 0 : MAX_WRAPPINGS;
    values = values.flatMap((value) =>
      step === '*' ? elementsOf(value, maxWrappings) : memberOf(value, step, maxWrappings),
    );
  }
  return values;
}

/** The first value of `valuesAt`. */
export function firstAt(root: unknown, path: string): unknown {
  return valuesAt(root, path)[0];
}

function memberOf(value: unknown, name: string, maxWrappings: number): unknown[] {
  const owner = unwrap(value, maxWrappings, (inner) => isJsonObject(inner) && Object.hasOwn(inner, name));
  return isJsonObject(owner) ? [owner[name]] : [];
}

function elementsOf(value: unknown, maxWrappings: number): readonly unknown[] {
  const list = unwrap(value, maxWrappings, (inner) => listOf(inner) !== undefined);
  return listOf(list) ?? [];
}

const MAX_WRAPPINGS = 3;

/** The value, or the only one inside it, that has a property. */
function unwrap(value: unknown, maxWrappings: number, isWanted: (value: unknown) => boolean): unknown {
  let inner = value;
  for (let wrappings = 0; ; wrappings += 1) {
    if (isWanted(inner)) return inner;
    if (wrappings === maxWrappings || typeof inner !== 'object' || inner === null) return undefined;
    const values: readonly unknown[] = Object.values(inner);
    if (values.length !== 1) return undefined;
    [inner] = values;
  }
}

import { isJsonObject } from '../lib/json.ts';

/** True for HTML and XML. */
export function isMarkup(body: Buffer): boolean {
  return body.subarray(0, 64).toString('utf8').trimStart().startsWith('<');
}

/** True for HTML only. */
export function isHtml(body: Buffer): boolean {
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(body.subarray(0, 64).toString('utf8'));
}

/** YouTube nests 40 levels at most. */
const MAX_DEPTH = 100;
/** A complete channel page has 100,000 objects and lists. */
const MAX_VISITED = 500_000;

/**
 * Visits a value and all objects and lists inside it, in document order, as long as `enter` returns true for the outer
 * one. Takes linear time. Values that are nested too deeply and those after the first 500,000 are not visited.
 *
 * @param enter gets an object or a list, and the member name at which it is (`undefined` for elements of lists)
 */
export function walk(root: unknown, enter: (value: object, name: string | undefined) => boolean): void {
  const pending: { readonly value: object; readonly name: string | undefined; readonly depth: number }[] = [];
  const add = (value: unknown, name: string | undefined, depth: number) => {
    if (typeof value === 'object' && value !== null) pending.push({ value, name, depth });
  };
  add(root, undefined, 0);
  for (let visited = 0; visited < MAX_VISITED; visited += 1) {
    const next = pending.pop();
    if (next === undefined) return;
    const { value, name, depth } = next;
    if (!enter(value, name) || depth === MAX_DEPTH) continue;
    // The first one is taken next.
    if (Array.isArray(value)) for (const element of value.toReversed()) add(element, undefined, depth + 1);
    else for (const [innerName, inner] of Object.entries(value).reverse()) add(inner, innerName, depth + 1);
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

/**
 * All values at a dotted path, in document order; `*` means every element of a list. A step that is missing or has
 * another type yields nothing, because YouTube renames and removes parts at any time.
 */
export function valuesAt(root: unknown, path: string): unknown[] {
  return path.split('.').reduce((values, step) => values.flatMap((value) => valuesOf(value, step)), [root]);
}

/** The first value of `valuesAt`. */
export function firstAt(root: unknown, path: string): unknown {
  return valuesAt(root, path)[0];
}

function valuesOf(value: unknown, step: string): readonly unknown[] {
  if (step === '*') return Array.isArray(value) ? value : [];
  return isJsonObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
}

import { parseJson } from '../../lib/shape.ts';

export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a response; `undefined` for everything but a JSON object. */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), isJsonObject);
}

/** True for HTML and XML. */
export function isMarkup(body: Buffer): boolean {
  return body.subarray(0, 64).toString('utf8').trimStart().startsWith('<');
}

/**
 * All values at a dotted path, in document order; `*` means every element of a list. A step that is missing or has
 * another type yields nothing, because upstream renames and removes parts at any time.
 */
export function valuesAt(root: unknown, path: string): unknown[] {
  let values = [root];
  for (const step of path.split('.')) {
    values = values.flatMap((value): readonly unknown[] => {
      if (step === '*') return Array.isArray(value) ? value : [];
      return isJsonObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
    });
  }
  return values;
}

/** The first value of `valuesAt`. */
export function firstAt(root: unknown, path: string): unknown {
  return valuesAt(root, path)[0];
}

/** All values of members with this name, at any depth, in no order. Takes linear time. */
export function valuesNamed(root: unknown, name: string): unknown[] {
  const found: unknown[] = [];
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) for (const element of value) pending.push(element);
    if (!isJsonObject(value)) continue;
    for (const [key, member] of Object.entries(value)) {
      if (key === name) found.push(member);
      pending.push(member);
    }
  }
  return found;
}

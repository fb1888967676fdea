/** Checks whether a foreign value has a type. It never throws. */
export type Check<T> = (value: unknown) => value is T;

/** @param pattern linear in the text's length */
export function text(pattern?: RegExp): Check<string> {
  return (value): value is string => typeof value === 'string' && (pattern === undefined || pattern.test(value));
}

export function trueOrFalse(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** A finite number in the range. */
export function numberIn(minimum: number, maximum: number): Check<number> {
  return (value): value is number => typeof value === 'number' && value >= minimum && value <= maximum;
}

export function oneOf<const T extends string>(texts: readonly T[]): Check<T> {
  return (value): value is T => texts.some((each) => each === value);
}

export function nullOr<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

/** For a field that may be left out. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

/** An object with any keys whose values all match. */
export function mapOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(check);
}

export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return (value): value is A | B => first(value) || second(value);
}

/** An object with these fields. The compiler requires a check of every field of `T`. Other fields are ignored. */
export function fields<T extends object>(checks: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> {
  const entries = Object.entries(checks) as [string, Check<unknown>][];
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    entries.every(([name, check]) => check((value as Record<string, unknown>)[name]));
}

/** Parses JSON; `undefined` if the text is not JSON, or if its value does not match. */
export function parseJson<T>(json: string, check: Check<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The known name that is a likely spelling of this one: both are equal when each loses at most one letter. Letter case, `_` and
 * `-` do not count.
 */
export function findNearName(name: string, known: Iterable<string>): string | undefined {
  const variants = new Set(withoutOneLetter(name));
  return [...known].find((candidate) => withoutOneLetter(candidate).some((variant) => variants.has(variant)));
}

/** The letters of a name, and the same without each of them. */
function withoutOneLetter(name: string): readonly string[] {
  const letters = name.toLowerCase().replaceAll(/[_-]/g, '');
  return [letters, ...Array.from(letters, (_, at) => letters.slice(0, at) + letters.slice(at + 1))];
}

/** The known name that differs in one character, or would without letter case, `_` and `-`. */
export function findNearName(name: string, known: Iterable<string>): string | undefined {
  return [...known].find(
    (candidate) => isOneEditApart(name, candidate) || isOneEditApart(lettersOf(name), lettersOf(candidate)),
  );
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** True if the texts are equal or differ by one added, missing, changed or swapped character. */
function isOneEditApart(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [restOfA, restOfB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (restOfA.length <= 1 && restOfB.length <= 1) return true;
  return restOfA.length === 2 && restOfB === `${restOfA[1]}${restOfA[0]}`;
}

/** Longer texts are ignored, so that records and lists have a bounded size. */
export const MAX_CHARACTERS = {
  title: 500,
  description: 20_000,
  name: 100,
  url: 2_048,
  /** It loads the continuation of a page. A built token has 135 characters. */
  token: 10_000,
} as const;

/** The value if it is a text that is not longer than the limit of its kind. */
export function textWithin(value: unknown, kind: keyof typeof MAX_CHARACTERS): string | undefined {
  return typeof value === 'string' && value.length <= MAX_CHARACTERS[kind] ? value : undefined;
}

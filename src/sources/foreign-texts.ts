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

const REFERENCE = /&(?:#(\d{1,7})|#x([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Replaces the references of XML 1.0, section 4.6, and numbers of characters. Every other text stays. */
export function decodeReferences(text: string): string {
  return text.replaceAll(REFERENCE, (reference, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? reference;
    const codePoint = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return codePoint <= 0x10_ff_ff ? String.fromCodePoint(codePoint) : reference;
  });
}

import type { PageReading } from './readings.ts';

/** What has to be known of a page to ask for its channel's About data without it. */
type Rest = Pick<PageReading, 'aboutToken' | 'aboutTab' | 'language'>;

export function formatRest({ aboutToken, aboutTab, language }: Rest): string {
  const known = Object.entries({ token: aboutToken, tab: aboutTab, language });
  return new URLSearchParams(known.filter((entry): entry is [string, string] => entry[1] !== undefined)).toString();
}

export function parseRest(text: string): Rest {
  const known = new URLSearchParams(text);
  return {
    aboutToken: known.get('token') ?? undefined,
    aboutTab: known.get('tab') === 'elsewhere' ? 'elsewhere' : undefined,
    language: known.get('language') ?? undefined,
  };
}

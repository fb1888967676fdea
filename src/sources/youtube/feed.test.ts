import { describe, expect, it } from 'vitest';
import { testChannel } from '../../../test/helpers/fake-source.ts';
import { isExactTime, readFeed, withFeed } from './feed.ts';

const ID = 'UCreplayLighthouse000001';
const ALTERNATE = `<link rel="alternate" href="https://www.youtube.com/channel/${ID}"/>`;
const PUBLISHED = '<published>2013-07-09T20:17:20+00:00</published>';
const ENTRY = '<entry><published>2026-07-01T14:00:35+00:00</published></entry>';

const feed = (content: string) => `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">${content}</feed>`;

/** A record's time after its feed was read; `undefined` if the record still has the day of its page. */
function publishedAtIn(xml: string): string | null | undefined {
  const page = {
    channel: testChannel(ID, { publishedAt: '2013-07-09T00:00:00Z' }),
    isComplete: true,
    missing: [],
  };
  const { publishedAt } = withFeed(page, readFeed(xml)).channel;
  return isExactTime(publishedAt) ? publishedAt : undefined;
}

describe('a feed', () => {
  it('gives its own time and not those of its entries, in UTC without fractions', () => {
    expect(publishedAtIn(feed(ALTERNATE + PUBLISHED + ENTRY))).toBe('2013-07-09T20:17:20Z');
    expect(publishedAtIn(feed('<published>2013-07-09T22:17:20.5+02:00</published>'))).toBe('2013-07-09T20:17:20Z');
    expect(publishedAtIn(feed(ENTRY))).toBeUndefined();
  });

  it.each([
    ['no date', feed('<published>yesterday</published>')],
    ['an impossible date', feed('<published>2013-13-09T20:17:20+00:00</published>')],
    ['a part of a feed', `<feed>${PUBLISHED}<entry>`],
    ['HTML', `<html>${PUBLISHED}</html>`],
    ['nothing', ''],
  ])('gives no time for %s', (_what, xml) => {
    expect(publishedAtIn(xml)).toBeUndefined();
  });
});

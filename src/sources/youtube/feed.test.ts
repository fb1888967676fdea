import { describe, expect, it } from 'vitest';
import { testChannel } from '../../../test/helpers/fake-source.ts';
import { isExactTime, readFeed, withFeed } from './feed.ts';

const ID = 'UCreplayLighthouse000001';
const ALTERNATE = `<link rel="alternate" href="https://www.youtube.com/channel/${ID}"/>`;
const PUBLISHED = '<published>2013-07-09T20:17:20+00:00</published>';
const ENTRY = '<entry><published>2026-07-01T14:00:35+00:00</published></entry>';

const feed = (content: string) => `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">${content}</feed>`;

/** A record's time after its feed was read; `undefined` if the record still has the day of its page. */
function publishedAtIn(xml: string, channelId: string): string | null | undefined {
  const page = {
    channel: testChannel(channelId, { publishedAt: '2013-07-09T00:00:00Z' }),
    isComplete: true,
    missing: [],
  };
  const { publishedAt } = withFeed(page, readFeed(xml)).channel;
  return isExactTime(publishedAt) ? publishedAt : undefined;
}

describe('a feed', () => {
  it('gives the time of the feed itself, before or after the entries', () => {
    for (const content of [ALTERNATE + PUBLISHED + ENTRY, ENTRY + PUBLISHED, PUBLISHED]) {
      expect(publishedAtIn(feed(content), ID)).toBe('2013-07-09T20:17:20Z');
    }
  });

  it('gives UTC without fractions for any offset', () => {
    const xml = feed('<published>2013-07-09T22:17:20.5+02:00</published>');
    expect(publishedAtIn(xml, ID)).toBe('2013-07-09T20:17:20Z');
  });

  it.each([
    ['entries only', ENTRY],
    ['a comment', `<!-- ${PUBLISHED} -->`],
    ['a CDATA section', `<title><![CDATA[</title>${PUBLISHED}]]></title>`],
    ['an attribute', `<title a="x>${PUBLISHED.replaceAll('<', '&lt;')}">t</title>`],
    ['a nested element', `<author>${PUBLISHED}</author>`],
    ['another channel’s feed', ALTERNATE.replace(ID, 'UCsXVk37bltHxD1rDPwtNM8Q') + PUBLISHED],
    ['no date', '<published>yesterday</published>'],
    ['an impossible date', '<published>2013-13-09T20:17:20+00:00</published>'],
    ['elements that do not close', `<a>${PUBLISHED}`],
    ['broken markup', `${PUBLISHED}< a >`],
  ])('gives nothing for %s', (_what, content) => {
    expect(publishedAtIn(feed(content), ID)).toBeUndefined();
  });

  it.each([
    '',
    'no markup',
    `<html>${PUBLISHED}</html>`,
    `<feed>${PUBLISHED}`,
    `<feed ${'"'.repeat(50_000)}`,
    '<!--'.repeat(500_000),
  ])('gives nothing for other documents', (xml) => {
    expect(publishedAtIn(xml, ID)).toBeUndefined();
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

/** Results of a kind that nobody has seen yet. */
const UNREADABLE = {
  estimatedResults: '149598',
  contents: {
    twoColumnSearchResultsRenderer: {
      primaryContents: {
        sectionListRenderer: {
          contents: [{ itemSectionRenderer: { contents: [{ crownViewModel: { id: 'UCreplayLighthouse000001' } }] } }],
        },
      },
    },
  },
};

const CALLS = 'pennant_source_calls_total{source="youtube",operation="search",outcome="upstream_invalid"}';

let running: YoutubeService;
beforeEach(async () => {
  running = await startYoutubeService();
  running.replay.misbehave('search', respondWithJson(UNREADABLE));
});
afterEach(() => running.close());

const search = (query: string) => running.service.get(`/api/search?q=${query}`);

describe('a search whose results cannot be read', () => {
  it('is an error that is not stored, takes one call, and is counted as a failure of the source', async () => {
    for (let times = 0; times < 3; times += 1) {
      const response = await search('night');
      expect([response.status, response.headers['cache-control']]).toEqual([502, 'no-store']);
      expect(response.json()).toMatchObject({ code: 'upstream_invalid' });
    }
    expect(running.replay.callsTo('search')).toHaveLength(1);
    expect(await running.service.metric(CALLS)).toBeGreaterThan(0);
    running.replay.behave();
    running.service.clock.advance(15_000);
    expect((await search('light')).status).toBe(200);
  });

  it('pauses searches when it happens for many queries, and /readyz says so', async () => {
    for (let query = 0; query < 30; query += 1) {
      await search(`night${query}`);
      running.service.clock.advance(300);
    }
    const { conditions } = (await running.service.console('/readyz')).json<{ conditions: object[] }>();
    expect(conditions).toContainEqual(expect.objectContaining({ name: 'source youtube searches' }));
  });
});

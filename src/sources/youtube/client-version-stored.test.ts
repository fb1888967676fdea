import { describe, expect, it } from 'vitest';
import { namedVersions, startInstance, startYoutube, V2 } from '../../../test/helpers/client-versions.ts';
import { createMemoryText } from '../../../test/helpers/youtube-source.ts';
import { BUILT_IN_CLIENT_VERSION } from './client-version.ts';

describe('the stored client versions', () => {
  it('are written again if the store has lost them or had no room for them', async () => {
    const youtube = await startYoutube();
    Object.assign(youtube, { named: V2, accepted: new Set([V2]) });
    const { load, kept, versions } = startInstance(youtube.replay);
    await load();
    kept.text = undefined;
    await versions.runIfDue();
    expect(kept.text).toContain(`"current":"${V2}"`);
  });

  const sound = {
    current: V2,
    earlier: null,
    learned: V2,
    rejected: null,
    learnedAtMs: 1,
    askedAtMs: 1,
    writtenAtMs: 1,
  };

  it.each<[string, string]>([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['another form of version', JSON.stringify({ ...sound, current: 'x"}}' })],
    ['no times', JSON.stringify({ ...sound, writtenAtMs: undefined })],
    ['endless times', JSON.stringify(sound).replace(':1', ':1e308')],
  ])('are ignored if they are %s', async (_what, text) => {
    const youtube = await startYoutube();
    const { load } = startInstance(youtube.replay, { kept: createMemoryText(text) });
    expect(await load()).toBe('Bell Rock Light');
    expect(namedVersions(youtube.replay)).toEqual([BUILT_IN_CLIENT_VERSION]);
  });

  it('do not prevent a lookup if they are from the future', async () => {
    const youtube = await startYoutube();
    const future = {
      ...sound,
      current: null,
      learnedAtMs: Date.UTC(2099, 0),
      askedAtMs: Date.UTC(2099, 0),
      writtenAtMs: Date.UTC(2099, 0),
    };
    const { versions } = startInstance(youtube.replay, { kept: createMemoryText(JSON.stringify(future)) });
    await versions.runIfDue();
    expect(youtube.replay.callsTo('version')).toHaveLength(1);
  });
});

import { FAULTS } from '../helpers/fake-upstream.ts';
import { startReplayServer } from '../helpers/replay-server.ts';
import { createTestYoutubeSource } from '../helpers/youtube-source.ts';
import { describeSourceContract } from './source.ts';

describeSourceContract('youtube', async () => {
  const replay = await startReplayServer();
  return {
    source: createTestYoutubeSource(replay.origin),
    known: { channelId: 'UCreplayLighthouse000001', title: 'Bell Rock Light', handle: 'BellRockLight' },
    knownUsername: 'bellrock',
    unknown: { channelId: 'UCreplayNobody0000000099', handle: 'nobody', username: 'nobody' },
    queryWithHits: 'light',
    queryWithoutHits: 'darkness',
    breakUpstream: () => replay.misbehave('all', FAULTS.resetBeforeResponse),
    stallUpstream: () => replay.misbehave('all', FAULTS.hangBeforeHeaders),
    tearDown: () => replay.close(),
  };
});

import { AppError, valueOrError } from '../../domain/errors.ts';
import type { WayIn } from '../source.ts';
import { BUILT_IN, type ClientVersions, learnedClient, type WebClient } from './client-version.ts';
import { type Innertube, requireFound } from './innertube.ts';
import { showsChannel } from './record.ts';

/** The ways to a record. The first one that works is used. */
const WAYS = ['JSON calls', 'JSON calls with headers', 'HTML page'] as const;

interface WaysOptions {
  readonly innertube: Innertube;
  readonly clientVersions: ClientVersions;
  readonly channelId: string;
  readonly signal: AbortSignal;
}

/** Loads the page of a channel in each way, whichever the service uses. Rejects only for a bug. */
export async function tryWays({ innertube, clientVersions, channelId, signal }: WaysOptions): Promise<WayIn[]> {
  async function call(client: WebClient): Promise<string> {
    const response = await innertube.browseChannel(channelId, { isWhole: false, client, signal });
    requireFound(response, 'browse', 'The video site refuses these calls.');
    return client.version;
  }

  async function callWithHeaders(): Promise<string> {
    const { version, problem } = await clientVersions.lookUp();
    if (version === undefined) throw new AppError('upstream_invalid', `YouTube names no client version: ${problem}`);
    return call(learnedClient(version));
  }

  async function loadHtml(): Promise<string> {
    const page = await innertube.getAboutPage(channelId, signal);
    if (!showsChannel(page)) throw new AppError('upstream_invalid', 'The page shows no channel.');
    const hasPanel = page.aboutTab === 'here';
    // An ordinary channel has a panel, which is therefore somewhere else now.
    if (!hasPanel && page.isOrdinary) {
      throw new AppError('upstream_invalid', 'The page lacks its About panel.');
    }
    return hasPanel ? 'page and About panel' : 'page';
  }

  const isLearned = clientVersions.state().origin === 'learned';
  const used = clientVersions.isRefused() ? 2 : Number(isLearned);
  const results = await Promise.all([call(BUILT_IN), callWithHeaders(), loadHtml()].map(valueOrError));
  return WAYS.map((name, index) => ({ name, isInUse: index === used, result: results[index] as string | AppError }));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender, type SentResponse } from '../helpers/http-request.ts';
import {
  jsonResponse,
  OWN_RESPONSES,
  ownResponse,
  type ReplayResponse,
  readResponses,
} from '../helpers/replay-responses.ts';
import { type ReplayServer, startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import type { Subject } from './context.ts';
import type { Outcome } from './report.ts';
import { findResponseFaults, hasRetryAfter } from './response-faults.ts';

/** Many more requests than it takes to open a breaker, by two clients. */
const REQUEST_EVERY_MS = 500;
/** As many as the call budget admits. */
const STRANGER_EVERY_MS = 2_500;
/** For the short and the long form. */
const ATTACK_MS = [5_000, 60_000] as const;
/** How long a failure of one key is remembered. */
const REMEMBERED_MS = 15_000;

type ReplayCall = ReplayServer['calls'][number];

interface KeyAttack {
  readonly name: string;
  readonly url: string;
  readonly status: number;
  /** Upstream calls for the key. */
  readonly isForKey: (call: ReplayCall) => boolean;
}

const WITHOUT_TITLE = 'UConeKeyWithoutTitle0001';
const REFUSED = 'UConeKeyRefusedImage0001';
const CUT = 'UConeKeyCutImage00000001';
const GONE = 'UConeKeyGoneImage0000001';

const ATTACKS: readonly KeyAttack[] = [
  { name: 'one channel that is not shown', ...channelAttack('UCreplayRegional00000011', 503) },
  { name: 'one channel without ID and title', ...channelAttack(WITHOUT_TITLE, 502) },
  {
    name: 'one name with circular redirects',
    url: '/api/channel/circle?type=handle',
    status: 502,
    isForKey: ({ body }) => String(body?.url).includes('circle'),
  },
  {
    name: 'one search that cannot be read',
    url: '/api/search?q=unreadable',
    status: 502,
    isForKey: ({ body }) => body?.query === 'unreadable',
  },
  { name: 'one image that is refused', ...imageAttack(REFUSED, 503) },
  { name: 'one image that cannot be decoded', ...imageAttack(CUT, 502) },
  { name: 'one image that is gone', ...imageAttack(GONE, 502) },
];

function channelAttack(channelId: string, status: number) {
  return {
    url: `/api/channel/${channelId}`,
    status,
    isForKey: ({ body }: ReplayCall) => body?.browseId === channelId,
  };
}

function imageAttack(channelId: string, status: number) {
  return {
    url: `/${channelId}/tv`,
    status,
    isForKey: ({ path, body }: ReplayCall) => path.includes(`${channelId}-banner`) || body?.browseId === channelId,
  };
}

/** Two clients repeat a request that always fails. All others are served. */
export const oneKey: Subject = {
  name: 'one-key',
  async run(context) {
    const attackMs = ATTACK_MS[context.isLong ? 1 : 0];
    const strangers = ATTACKS.length * Math.ceil(attackMs / STRANGER_EVERY_MS);
    const replay = await startUpstream(strangers);
    const service = await context.start({ env: { ...youtubeSettings(replay.origin), TRUST_PROXY: '127.0.0.0/8' } });
    // All at the same time on one service, so that a breaker that one of them opens affects all.
    await Promise.all(
      ATTACKS.map((attack, index) =>
        context.measure('one-key', attack.name, () => attackOnce(attackMs, service.port, replay, attack, index)),
      ),
    );
    await context.cleanUp();
    await replay.close();
  },
};

async function attackOnce(
  attackMs: number,
  port: number,
  replay: ReplayServer,
  attack: KeyAttack,
  index: number,
): Promise<Outcome> {
  const sender = createHttpSender(port);
  const faults: string[] = [];
  const ask = (client: string, url: string) => sender.send({ url, headers: { 'x-forwarded-for': client } });
  const countCalls = () => replay.calls.filter(attack.isForKey).length;
  const findFault = ({ status, headers }: SentResponse) => {
    if (status !== attack.status) return `${attack.url}: ${status} instead of ${attack.status}`;
    const isWait = hasRetryAfter({ headers }) && Number(headers['retry-after']) <= REMEMBERED_MS / 1_000;
    return isWait ? undefined : `Retry-After: ${headers['retry-after']}`;
  };

  let requests = 0;
  const attackers = async () => {
    let callsForOne = 0;
    for (; requests < attackMs / REQUEST_EVERY_MS; requests += 1) {
      const fault = findFault(await ask(`198.18.${index}.${1 + (requests % 2)}`, attack.url));
      if (fault !== undefined) faults.push(fault);
      if (requests === 0) callsForOne = countCalls();
      await sleep(REQUEST_EVERY_MS);
    }
    const loads = 1 + Math.floor((requests * REQUEST_EVERY_MS) / REMEMBERED_MS);
    if (countCalls() > callsForOne * loads) faults.push(`${countCalls()} calls, ${callsForOne} for one request`);
  };
  let served = 0;
  const strangers = async () => {
    for (let number = 0; number < attackMs / STRANGER_EVERY_MS; number += 1) {
      const channelId = strangerId(number * ATTACKS.length + index);
      for (const url of [`/api/channel/${channelId}`, `/${channelId}/avatar`]) {
        const response = await ask(`198.19.${index}.${number}`, url);
        faults.push(...(await findResponseFaults([{ url, response }])));
      }
      served += 1;
      await sleep(STRANGER_EVERY_MS);
    }
  };
  await Promise.all([attackers(), strangers()]);
  sender.close();
  return { measured: `${requests} requests made ${countCalls()} calls; ${served} strangers served`, faults };
}

function strangerId(number: number): string {
  return `UCstranger${String(number).padStart(14, '0')}`;
}

async function startUpstream(strangers: number): Promise<ReplayServer> {
  const bytes = await drawTestCard({ width: 320, height: 180 }).png().toBuffer();
  const ids = Array.from({ length: strangers }, (_, number) => strangerId(number));
  const replay = await startReplayServer({
    responses: [
      ...readResponses(OWN_RESPONSES),
      ...[REFUSED, CUT, GONE, ...ids].map(channelPage),
      jsonResponse('browse', { browseId: WITHOUT_TITLE }, { header: {} }),
      jsonResponse('search', { query: 'unreadable' }, { contents: {} }),
    ],
  });
  replay.misbehave('image', (request, response) => {
    const isBannerOf = (channelId: string) => request.url?.includes(`${channelId}-banner`) === true;
    if (isBannerOf(REFUSED)) response.writeHead(403).end();
    else if (isBannerOf(GONE)) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'image/png' }).end(isBannerOf(CUT) ? bytes.subarray(0, 60) : bytes);
  });
  return replay;
}

/** The lighthouse's page with another ID and other images. */
function channelPage(channelId: string): ReplayResponse {
  const page = JSON.stringify(ownResponse('browseId', 'UCreplayLighthouse000001'));
  const text = page.replaceAll('UCreplayLighthouse000001', channelId).replaceAll('lighthouse-', `${channelId}-`);
  return jsonResponse('browse', { browseId: channelId }, JSON.parse(text));
}

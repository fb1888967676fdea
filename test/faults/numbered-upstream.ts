import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { channelIdOfToken, OWN_RESPONSES, ownResponse, readResponses } from '../helpers/replay-responses.ts';
import { drawTestCard } from '../helpers/test-card.ts';

const TEMPLATE_ID = 'UCreplayLighthouse000001';
/** As YouTube replies about a handle or user name that leads nowhere. */
const NO_SUCH_NAME = JSON.stringify({ error: { code: 404, status: 'NOT_FOUND' } });
const ID = /UC[arpx]\d{21}/;

/** `r`: has images. `p`: its images are refused. `x`: is not shown. `a`: is absent. */
export type NumberedKind = 'r' | 'p' | 'x' | 'a';

export function numberedChannelId(kind: NumberedKind, number: number): string {
  return `UC${kind}${String(number).padStart(21, '0')}`;
}

/**
 * YouTube with a channel for every ID, each with its own images, and no names. Every search finds the same channels.
 *
 * @param original of every image. Default: a small one
 */
export async function startNumberedUpstream(original?: Buffer): Promise<FakeUpstream> {
  const { contents: _, ...page } = ownResponse('browseId', TEMPLATE_ID) as Record<string, unknown>;
  const texts = {
    page: JSON.stringify(page),
    about: aboutPanel(),
    hidden: alertOf('This channel is not available in your country.'),
    absent: alertOf('This channel does not exist.'),
    // Without a further page.
    found: JSON.stringify(ownResponse('query', 'bell rock')),
  };
  const image = original ?? (await drawTestCard({ width: 640, height: 360 }).jpeg({ quality: 90 }).toBuffer());

  function sendJson(response: ServerResponse, text: string, channelId: string): void {
    const body = text.replaceAll(TEMPLATE_ID, channelId).replaceAll('/lighthouse-', `/${channelId}-`);
    response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' }).end(body);
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/feeds/')) {
      response.writeHead(404).end();
      return;
    }
    if (request.method === 'GET') {
      const channelId = ID.exec(request.url ?? '')?.[0] ?? '';
      if (channelId.startsWith('UCr')) {
        // After the image's end, which decoders ignore: this makes every original different.
        const bytes = Buffer.concat([image, Buffer.from(request.url ?? '')]);
        response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes);
        // Two responses with 403 would open the breaker.
      } else response.writeHead(channelId.startsWith('UCp') ? 400 : 404).end();
      return;
    }
    const body = (await json(request)) as { browseId?: string; continuation?: string; query?: string; url?: string };
    const { browseId, continuation, query, url } = body;
    if (query !== undefined) return sendJson(response, texts.found, TEMPLATE_ID);
    if (url !== undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end(NO_SUCH_NAME);
      return;
    }
    const channelId = browseId ?? channelIdOfToken(continuation ?? '') ?? '';
    if (channelId.startsWith('UCx')) sendJson(response, texts.hidden, channelId);
    else if (channelId.startsWith('UCa')) sendJson(response, texts.absent, channelId);
    else sendJson(response, continuation === undefined ? texts.page : texts.about, channelId);
  }

  return startFakeUpstream((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
}

function alertOf(text: string): string {
  return JSON.stringify({ alerts: [{ alertRenderer: { type: 'ERROR', text: { simpleText: text } } }] });
}

function aboutPanel(): string {
  const found = readResponses(OWN_RESPONSES).find(({ file }) => file === 'about-lighthouse.json');
  if (found === undefined) throw new Error('about-lighthouse.json is missing');
  return JSON.stringify(JSON.parse(found.text));
}

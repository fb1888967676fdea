import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** A response as received. */
export interface CapturedAnswer {
  /** Names and values in order, without the fields that Node adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const WRITTEN_BY_NODE: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive']);

/** The body of a response. Throws if it is not a 200. */
export async function fetchGood(url: string): Promise<Buffer> {
  const response = await fetch(url);
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${body}`);
  return body;
}

/** Throws if the response is not a 200. */
export async function fetchAnswer(url: string, forwardedFor: string): Promise<CapturedAnswer> {
  const sent = request(url, { headers: { 'X-Forwarded-For': forwardedFor } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  const headers: [string, string][] = [];
  for (let at = 0; at < response.rawHeaders.length; at += 2) {
    const name = response.rawHeaders[at] as string;
    if (!WRITTEN_BY_NODE.has(name.toLowerCase())) headers.push([name, response.rawHeaders[at + 1] as string]);
  }
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${body}`);
  return { headers, body };
}

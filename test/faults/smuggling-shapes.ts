/** The request that must never get a response, because a proxy treats it as part of the previous one. */
const INNER = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

export interface SmugglingShape {
  readonly name: string;
  readonly bytes: string;
  /** `refused`: an error and a closed connection. `one`: a single response. The rest is its body or is dropped. */
  readonly expected: 'refused' | 'one';
}

const CHUNKED = `0\r\n\r\n${INNER}`;

function post(fields: readonly string[], body: string): string {
  return ['POST / HTTP/1.1', 'Host: a', ...fields, '', body].join('\r\n');
}

/** RFC 9112 sections 2.2, 5.1, 6.1, 6.3 and 7.1, and forms that servers have interpreted differently. */
const REFUSED: readonly Omit<SmugglingShape, 'expected'>[] = [
  { name: 'a length and chunks', bytes: post(['Content-Length: 6', 'Transfer-Encoding: chunked'], CHUNKED) },
  { name: 'chunks and a length', bytes: post(['Transfer-Encoding: chunked', 'Content-Length: 6'], CHUNKED) },
  { name: 'a blank before the colon', bytes: post(['Transfer-Encoding : chunked'], CHUNKED) },
  { name: 'an unknown coding', bytes: post(['Transfer-Encoding: xchunked'], CHUNKED) },
  { name: 'chunked, then identity', bytes: post(['Transfer-Encoding: chunked, identity'], CHUNKED) },
  { name: 'two codings in two fields', bytes: post(['Transfer-Encoding: chunked', 'Transfer-Encoding: x'], CHUNKED) },
  { name: 'a vertical tab before the coding', bytes: post(['Transfer-Encoding:\x0bchunked'], CHUNKED) },
  { name: 'a folded field', bytes: post(['Transfer-Encoding:', ' chunked', 'Content-Length: 4'], CHUNKED) },
  { name: 'two lengths', bytes: post(['Content-Length: 0', `Content-Length: ${INNER.length}`], INNER) },
  { name: 'a list of lengths', bytes: post([`Content-Length: 0, ${INNER.length}`], INNER) },
  { name: 'a length with a sign', bytes: post([`Content-Length: +${INNER.length}`], INNER) },
  { name: 'a negative length', bytes: post(['Content-Length: -1'], INNER) },
  { name: 'a hexadecimal length', bytes: post(['Content-Length: 0x10'], INNER) },
  { name: 'an enormous length', bytes: post(['Content-Length: 18446744073709551617'], INNER) },
  { name: 'a length with a blank in it', bytes: post(['Content-Length: 1 0'], INNER) },
  { name: 'an overflowing chunk', bytes: post(['Transfer-Encoding: chunked'], `fffffffffffffffff\r\n${INNER}`) },
  { name: 'a chunk size with a sign', bytes: post(['Transfer-Encoding: chunked'], `-1\r\n${INNER}`) },
  {
    name: 'a chunk that ends in a bare line feed',
    bytes: post(['Transfer-Encoding: chunked'], `1\r\nx\n0\r\n\r\n${INNER}`),
  },
  { name: 'a bare line feed between fields', bytes: `GET / HTTP/1.1\r\nHost: a\nContent-Length: 3\r\n\r\n${INNER}` },
  { name: 'a bare carriage return in a field', bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n${INNER}` },
  { name: 'a NUL in a field', bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n${INNER}` },
  { name: 'a blank in a field’s name', bytes: `GET / HTTP/1.1\r\nHost: a\r\nContent Length: 3\r\n\r\n${INNER}` },
  { name: 'a field without a colon', bytes: `GET / HTTP/1.1\r\nHost: a\r\nContent-Length\r\n\r\n${INNER}` },
  { name: 'the oldest HTTP', bytes: `GET /\r\n${INNER}` },
  { name: 'the newest HTTP', bytes: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${INNER}` },
  { name: 'an invalid version', bytes: `GET / HTTP/1.1.1\r\nHost: a\r\n\r\n${INNER}` },
];

const ONE_RESPONSE: readonly Omit<SmugglingShape, 'expected'>[] = [
  { name: 'a request as the body of GET', bytes: getWithBody(INNER) },
  { name: 'a request in a chunk of GET', bytes: getWithChunk(INNER) },
  {
    name: 'a request after an Upgrade to another protocol',
    bytes: `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${INNER}`,
  },
];

export const SMUGGLING_SHAPES: readonly SmugglingShape[] = [
  ...REFUSED.map((shape) => ({ ...shape, expected: 'refused' as const })),
  ...ONE_RESPONSE.map((shape) => ({ ...shape, expected: 'one' as const })),
];

function getWithBody(body: string): string {
  return `GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function getWithChunk(chunk: string): string {
  return `GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
}

import { expect, test } from 'vitest';
import { useTestApp } from '../helpers/app.ts';
import { readResponses } from '../helpers/raw-http.ts';

/*
 * Requests whose end is unclear. RFC 9112 sections 2.2, 5.1, 6.1, 6.3 and 7.1, and forms that servers have interpreted
 * differently. `http-connections.test.ts` has the requests whose body looks like a request.
 */

/** The request that must never get a response, because a proxy treats it as part of the previous one. */
const INNER = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED = `0\r\n\r\n${INNER}`;

const post = (fields: readonly string[], body: string) =>
  ['POST / HTTP/1.1', 'Host: a', ...fields, '', body].join('\r\n');

const SHAPES: Readonly<Record<string, string>> = {
  'a length and chunks': post(['Content-Length: 6', 'Transfer-Encoding: chunked'], CHUNKED),
  'chunks and a length': post(['Transfer-Encoding: chunked', 'Content-Length: 6'], CHUNKED),
  'a blank before the colon': post(['Transfer-Encoding : chunked'], CHUNKED),
  'an unknown coding': post(['Transfer-Encoding: xchunked'], CHUNKED),
  'chunked, then identity': post(['Transfer-Encoding: chunked, identity'], CHUNKED),
  'two codings in two fields': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: x'], CHUNKED),
  'a vertical tab before the coding': post(['Transfer-Encoding:\x0bchunked'], CHUNKED),
  'a folded field': post(['Transfer-Encoding:', ' chunked', 'Content-Length: 4'], CHUNKED),
  'two lengths': post(['Content-Length: 0', `Content-Length: ${INNER.length}`], INNER),
  'a list of lengths': post([`Content-Length: 0, ${INNER.length}`], INNER),
  'a length with a sign': post([`Content-Length: +${INNER.length}`], INNER),
  'a negative length': post(['Content-Length: -1'], INNER),
  'a hexadecimal length': post(['Content-Length: 0x10'], INNER),
  'an enormous length': post(['Content-Length: 18446744073709551617'], INNER),
  'a length with a blank in it': post(['Content-Length: 1 0'], INNER),
  'an overflowing chunk': post(['Transfer-Encoding: chunked'], `fffffffffffffffff\r\n${INNER}`),
  'a chunk size with a sign': post(['Transfer-Encoding: chunked'], `-1\r\n${INNER}`),
  'a chunk that ends in a bare line feed': post(['Transfer-Encoding: chunked'], `1\r\nx\n0\r\n\r\n${INNER}`),
  'a bare line feed between fields': `GET / HTTP/1.1\r\nHost: a\nContent-Length: 3\r\n\r\n${INNER}`,
  'a bare carriage return in a field': `GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n${INNER}`,
  'a NUL in a field': `GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n${INNER}`,
  'a blank in a field’s name': `GET / HTTP/1.1\r\nHost: a\r\nContent Length: 3\r\n\r\n${INNER}`,
  'a field without a colon': `GET / HTTP/1.1\r\nHost: a\r\nContent-Length\r\n\r\n${INNER}`,
  'the oldest HTTP': `GET /\r\n${INNER}`,
  'the newest HTTP': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${INNER}`,
  'an invalid version': `GET / HTTP/1.1.1\r\nHost: a\r\n\r\n${INNER}`,
};

const service = useTestApp();

test('a request whose end is unclear gets one error, and its connection is closed', async () => {
  const port = await service.listen();
  // At the same time, because a closing connection stays open for a second.
  const found = Object.entries(SHAPES).map(async ([shape, bytes]) => {
    const statuses = (await readResponses(port, bytes)).map(({ status }) => status);
    return { shape, statuses };
  });
  for (const { shape, statuses } of await Promise.all(found)) {
    expect({ shape, statuses }).toEqual({ shape, statuses: [expect.toBeOneOf([400, 405])] });
  }
});

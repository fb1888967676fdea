import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';
import { assertDeclared, hostileRequests, type OpenApiDocument } from '../helpers/openapi.ts';

let service: TestApp;
let client: HttpSender;
beforeAll(async () => {
  service = await startTestApp({ encoder: createFakeEncoder() });
  // A real socket, because injected requests lose dot segments.
  client = createHttpSender(await service.listen());
});
afterAll(async () => {
  client.close();
  await service.close();
});

test('every response to a hostile request is declared in the document, and none is a 500', async () => {
  const document = (await service.get('/openapi.json')).json<OpenApiDocument>();
  const seen = new Set<string>();
  const property = fc.asyncProperty(hostileRequests(document), async (request) => {
    const response = await client.send(request);
    seen.add(`${response.status} ${response.headers['content-type']}`);
    await assertDeclared(document, request, response);
    expect(response.status).not.toBe(500);
  });
  await fc.assert(property, { numRuns: 250, seed: 20_261_120 });
  // Proves that the requests get past the first checks.
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      '200 application/json; charset=utf-8',
      '200 image/avif',
      '200 image/jpeg',
      '400 application/problem+json',
      '404 application/problem+json',
      '405 application/problem+json',
    ]),
  );
});

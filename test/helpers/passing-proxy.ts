import { once } from 'node:events';
import { request as send } from 'node:http';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/**
 * Forwards requests to an origin, and returns each response after `mayAnswer` has resolved.
 *
 * @param mayAnswer called with the target of each request when it arrives
 */
export function startPassingProxy(
  origin: string,
  mayAnswer: (target: string) => Promise<unknown>,
): Promise<FakeUpstream> {
  return startFakeUpstream(async (request, response) => {
    const released = mayAnswer(request.url ?? '/');
    const { method, headers } = request;
    const passed = send(new URL(request.url ?? '/', origin), { method, headers });
    request.pipe(passed);
    const [answer] = await once(passed, 'response');
    await released;
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
}

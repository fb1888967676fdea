import { describe, expect, it } from 'vitest';
import { MAX_WAIT_MS, settled, setUpEncoder } from '../../../test/helpers/fake-pool.ts';
import { recordSpans } from '../../../test/helpers/recorded-spans.ts';

const { startRequest } = recordSpans();

describe('the encoder', () => {
  it('traces the wait and the processing of each task as children of the request’s span', async () => {
    const { submit, interrupt, finish } = setUpEncoder();
    const [first, second] = [startRequest(), startRequest()];
    first.run(() => submit('1'));
    second.run(() => submit('2'));
    interrupt('1', 'crash');
    await settled();
    await finish('1');
    await finish('2');
    expect(first.children()).toMatchObject([
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: { type: 'crash' } },
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: undefined },
    ]);
    expect(second.children()).toMatchObject([
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: undefined },
    ]);
  });

  it('traces tasks that were cancelled while they waited, and leaves no open span for refused tasks', async () => {
    const { submit, clock } = setUpEncoder({ queueLength: 1 });
    const [late, refused] = [startRequest(), startRequest()];
    submit('running');
    const waiting = late.run(() => submit('late'));
    await expect(refused.run(() => submit('refused'))).rejects.toMatchObject({ code: 'overloaded' });
    clock.advance(MAX_WAIT_MS);
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    await settled();
    expect(late.children()).toMatchObject([{ name: 'encoder queue', failure: { type: 'overloaded' } }]);
    expect(refused.children()).toEqual([]);
  });
});

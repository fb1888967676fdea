import { describe, expect, it } from 'vitest';
import { createStub, hit, over, type Stub } from '../../test/helpers/fake-source.ts';

describe('a search of several sources', () => {
  const first: Stub = { name: 'first', hits: [hit('a', 'from the first'), hit('b')] };
  const second: Stub = { name: 'second', hits: [hit('c')] };

  it('is the list of the first source that answers, also an empty one', async () => {
    const other = createStub(second);
    expect((await over([first, other]).search('q', 20)).hits).toHaveLength(2);
    expect((await over([{ hits: [] }, other]).search('q', 20)).hits).toEqual([]);
    expect(other.calls).toBe(0);
    expect((await over([{ hits: 'upstream_invalid' }, other]).search('q', 20)).hits).toHaveLength(1);
  });

  it('fails with the most specific of several errors', async () => {
    const search = over([{ hits: 'upstream_invalid' }, { hits: 'upstream_timeout' }]).search('q', 20);
    await expect(search).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterMs: 10_000 });
  });

  it('throws unexpected errors', async () => {
    await expect(over([{ hits: new TypeError('a bug') }, second]).search('q', 20)).rejects.toBeInstanceOf(TypeError);
  });
});

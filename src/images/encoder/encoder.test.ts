import { describe, expect, it } from 'vitest';
import { RESULT, setUpEncoder } from '../../../test/helpers/fake-pool.ts';

describe('the encoder', () => {
  it('runs as many jobs at a time as there are places, and returns the reply of each', async () => {
    const { submit, running, finish } = setUpEncoder({ places: 2 });
    const first = submit('1', 'a');
    submit('2', 'b');
    const third = submit('3', 'c');
    expect(running()).toEqual(['1', '2']);
    await finish('1');
    expect(await first).toBe(RESULT);
    expect(running()).toEqual(['2', '3']);
    await finish('3');
    expect(await third).toBe(RESULT);
  });

  it('lets clients take turns', async () => {
    const { submit, running, finish, clock } = setUpEncoder();
    for (const name of ['a1', 'a2', 'a3', 'b1']) submit(name, name.charAt(0));
    const order: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const [name = ''] = running();
      order.push(name);
      clock.advance(100);
      await finish(name);
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('leaves one place free for other networks', async () => {
    const { submit, running, finish } = setUpEncoder({ places: 3 });
    for (const name of ['a1', 'b1', 'c1', 'd1']) submit(name, `network/${name.charAt(0)}`);
    expect(running()).toEqual(['a1', 'b1']);
    submit('z1', 'z');
    expect(running()).toEqual(['a1', 'b1', 'z1']);
    await finish('a1');
    expect(running()).toEqual(['b1', 'z1', 'c1']);
    await finish('z1');
    expect(running()).toEqual(['b1', 'c1']);
  });

  it('does not interrupt background work for a network that has all its places', async () => {
    const { submit, running } = setUpEncoder({ places: 2 });
    submit('background', '', 'background');
    submit('a1', 'network/a');
    submit('b1', 'network/b');
    expect(running()).toEqual(['background', 'a1']);
    submit('z1', 'z');
    expect(running()).toEqual(['a1', 'z1']);
  });

  it('drops a waiting job when its client leaves', async () => {
    const { submit, running, finish, encoder } = setUpEncoder();
    submit('1');
    const leaving = new AbortController();
    const dropped = submit('2', '', 'interactive', leaving.signal);
    submit('3');
    leaving.abort(new Error('gone'));
    await expect(dropped).rejects.toThrow('gone');
    expect(encoder.stats().queued).toBe(1);
    await finish('1');
    expect(running()).toEqual(['3']);
  });

  it('does not take a job whose client has already left', async () => {
    const { submit, running } = setUpEncoder();
    await expect(submit('1', '', 'interactive', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(running()).toEqual([]);
  });

  it('finishes a started job when its client leaves', async () => {
    const { submit, finish } = setUpEncoder();
    const leaving = new AbortController();
    const result = submit('1', '', 'interactive', leaving.signal);
    leaving.abort();
    await finish('1');
    expect(await result).toBe(RESULT);
  });

  it('runs background work after all interactive work, and one at a time', async () => {
    const { submit, running, finish } = setUpEncoder({ places: 2 });
    submit('1', 'a');
    submit('2', 'b');
    submit('background 1', '', 'background');
    submit('background 2', '', 'background');
    submit('3', 'c');
    await finish('1');
    expect(running()).toEqual(['2', '3']);
    await finish('2');
    await finish('3');
    expect(running()).toEqual(['background 1']);
    await finish('background 1');
    expect(running()).toEqual(['background 2']);
  });

  it('ends background work when interactive work waits and no place is free', async () => {
    const { submit, running } = setUpEncoder({ places: 2 });
    const background = submit('background', '', 'background');
    submit('1', 'a');
    expect(running()).toEqual(['background', '1']);
    submit('2', 'b');
    expect(running()).toEqual(['1', '2']);
    await expect(background).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('rejects waiting and new jobs once it is closed', async () => {
    const { submit, encoder } = setUpEncoder();
    submit('1');
    const waiting = submit('2');
    await encoder.close();
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    await expect(submit('3')).rejects.toMatchObject({ code: 'overloaded' });
  });
});

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Channel, isPublishedAt } from '../../src/domain/channel.ts';
import { isUpstreamFailure } from '../../src/domain/errors.ts';
import { findUsername, isChannelId } from '../../src/domain/identifier.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { handleIdentifier } from '../helpers/handle.ts';

/** A source under test, and what the suite may assume about its content. */
export interface SourceUnderTest {
  readonly source: ChannelSource;
  /** A channel of the source. The handle has no `@` and at least one letter of the Latin script. */
  readonly known: { readonly channelId: string; readonly title: string; readonly handle: string };
  /** The known channel's legacy user name, if it has one. */
  readonly knownUsername?: string;
  /** Valid identifiers without a channel in the source. */
  readonly unknown: { readonly channelId: string; readonly handle: string; readonly username: string };
  /** A query that finds at least three channels. */
  readonly queryWithHits: string;
  readonly queryWithoutHits: string;
  /** Makes every further call fail with an error of upstream. Absent for a source without such a state. */
  readonly breakUpstream?: () => void | Promise<void>;
  /** Makes every further call hang. Absent for a source that never waits. */
  readonly stallUpstream?: () => void | Promise<void>;
  /** Releases the resources behind the source. */
  readonly tearDown?: () => void | Promise<void>;
}

/** The contract of every channel source (`src/sources/source.ts`). */
export function describeSourceContract(name: string, setUp: () => Promise<SourceUnderTest>): void {
  describe(`source contract: ${name}`, () => defineTests(setUp));
}

function defineTests(setUp: () => Promise<SourceUnderTest>): void {
  let underTest: SourceUnderTest;
  let source: ChannelSource;
  const signal = () => new AbortController().signal;

  beforeAll(async () => {
    underTest = await setUp();
    source = underTest.source;
  });
  afterAll(() => underTest.tearDown?.());

  /** A separate source for a test that breaks it. */
  async function setUpAnother(): Promise<SourceUnderTest> {
    const another = await setUp();
    onTestFinished(() => another.tearDown?.());
    return another;
  }

  it('returns the complete record of a known ID', async () => {
    const { known } = underTest;
    const loaded = await source.getChannel(known.channelId, { signal: signal() });
    expect(loaded.channel).toMatchObject({ channelId: known.channelId, title: known.title });
    expect(loaded).toMatchObject({ isComplete: true, missing: [] });
    expectWellFormedChannel(loaded.channel);
  });

  it('rejects an unknown ID with channel_not_found', async () => {
    const response = source.getChannel(underTest.unknown.channelId, { signal: signal() });
    await expect(response).rejects.toMatchObject({ name: 'AppError', code: 'channel_not_found' });
  });

  it('resolves a handle in any letter case', async () => {
    const { known } = underTest;
    for (const spelling of [known.handle, known.handle.toUpperCase(), known.handle.toLowerCase(), `@${known.handle}`]) {
      const resolution = await source.resolve(handleIdentifier(spelling), { signal: signal() });
      expect(resolution.channelId).toBe(known.channelId);
      if (resolution.loaded !== undefined) expectWellFormedChannel(resolution.loaded.channel);
    }
  });

  it('resolves a legacy user name in any letter case', async (context) => {
    const { knownUsername, known } = underTest;
    if (knownUsername === undefined) return context.skip('the known channel has no user name');
    for (const spelling of [knownUsername, knownUsername.toUpperCase()]) {
      const resolution = await source.resolve(usernameIdentifier(spelling), { signal: signal() });
      expect(resolution.channelId).toBe(known.channelId);
    }
  });

  it('rejects an unknown handle and an unknown user name with channel_not_found', async () => {
    const { unknown } = underTest;
    for (const identifier of [handleIdentifier(unknown.handle), usernameIdentifier(unknown.username)]) {
      const response = source.resolve(identifier, { signal: signal() });
      await expect(response).rejects.toMatchObject({ name: 'AppError', code: 'channel_not_found' });
    }
  });

  it('lists the channels that match, and none twice', async () => {
    const hits = await source.search(underTest.queryWithHits, { signal: signal() });
    const ids = hits.map(({ channelId }) => channelId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(3);
    for (const { channelId, title } of hits) expect([isChannelId(channelId), title]).toEqual([true, NOT_EMPTY]);
  });

  it('returns an empty list for a search without matches', async () => {
    expect(await source.search(underTest.queryWithoutHits, { signal: signal() })).toEqual([]);
  });

  it('never reports a failure as "no such channel" or as an empty list', async (context) => {
    if (underTest.breakUpstream === undefined) return context.skip('the source cannot fail');
    const another = await setUpAnother();
    await another.breakUpstream?.();
    for (const error of await failuresOf(allCalls(another, signal()))) {
      expect(isUpstreamFailure(error), String(error)).toBe(true);
    }
  });

  it('rejects a call whose signal is already aborted', async () => {
    for (const error of await failuresOf(allCalls(underTest, AbortSignal.abort()))) {
      expect(error).not.toMatchObject({ code: 'channel_not_found' });
    }
  });

  it('ends a waiting call as soon as its signal is aborted', async (context) => {
    if (underTest.stallUpstream === undefined) return context.skip('the source never waits');
    const another = await setUpAnother();
    await another.stallUpstream?.();
    const controller = new AbortController();
    const failures = failuresOf(allCalls(another, controller.signal));
    controller.abort();
    expect(await failures).toHaveLength(3);
  });
}

function allCalls({ source, known, queryWithHits }: SourceUnderTest, signal: AbortSignal): Promise<unknown>[] {
  return [
    source.getChannel(known.channelId, { signal }),
    source.resolve(handleIdentifier(known.handle), { signal }),
    source.search(queryWithHits, { signal }),
  ];
}

/** The errors of the calls. Fails if one of them succeeds. */
async function failuresOf(calls: Promise<unknown>[]): Promise<unknown[]> {
  const ends = await Promise.allSettled(calls);
  return ends.map((end) => {
    if (end.status === 'rejected') return end.reason;
    throw new Error(`expected a rejection, got ${JSON.stringify(end.value)}`);
  });
}

function usernameIdentifier(text: string) {
  const identifier = findUsername(text);
  if (identifier === undefined) throw new Error(`${text} is not a user name`);
  return identifier;
}

const NOT_EMPTY = expect.stringMatching(/./s);
const COUNT = /^\d{1,30}$/;
const FORMS = {
  ...{ channelId: /^UC[\w-]{22}$/, title: /./s, customUrl: /^@/, country: /^[A-Z]{2}$/ },
  ...{ subscriberCount: COUNT, viewCount: COUNT, videoCount: COUNT },
};

/** Asserts what `Channel` promises for the fields of any channel. */
function expectWellFormedChannel(channel: Channel): void {
  expect(JSON.parse(JSON.stringify(channel)), 'a record survives JSON').toEqual(channel);
  for (const [field, form] of Object.entries(FORMS))
    expect(channel[field as keyof Channel] ?? null, field).toSatisfy((value) => value === null || form.test(value));
  expect(channel.publishedAt === null || isPublishedAt(channel.publishedAt)).toBe(true);
  for (const { title, url } of channel.links ?? [])
    expect([title, url]).toEqual([NOT_EMPTY, expect.stringMatching(/^https?:/)]);
}

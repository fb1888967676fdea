import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, numberedSource } from '../../test/helpers/fake-source.ts';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import type { Channel } from '../domain/channel.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createMissingFields, type MissingFields } from './missing-fields.ts';

const HOUR_MS = 3_600_000;

let clock: ManualClock;
let runtime: Runtime;
let missingFields: MissingFields;
let template: Channel;
beforeEach(async () => {
  clock = createManualClock();
  runtime = createTestRuntime({ clock });
  missingFields = createMissingFields({ runtime });
  const { channel } = await numberedSource().getChannel(idOf(1), { signal: new AbortController().signal });
  template = { ...channel, country: 'IS', links: [{ title: 'L', url: 'https://example.org/' }], description: 'D' };
});

/** An answer about a channel whose record had every field. */
function note(number: number, fields: Partial<Channel> = {}, missing: readonly (keyof Channel)[] = []) {
  const channel = { ...template, channelId: idOf(number), ...fields };
  return missingFields.note({ channel, isComplete: missing.length === 0, missing }, template);
}

const problems = () => runtime.health.problems().map(([name]) => name);

describe('a value', () => {
  it('has vanished if it is gone, or empty', () => {
    expect(note(1, { country: null, links: [], description: '' })).toEqual(['description', 'country', 'links']);
    expect(note(1)).toEqual([]);
  });

  it('has not vanished where a call failed, where the source never has it, and from a new channel', () => {
    expect(note(1, { country: null }, ['country'])).toEqual([]);
    expect(note(1, { links: null })).toEqual([]);
    const loaded = { channel: { ...template, country: null }, isComplete: true, missing: [] };
    expect(missingFields.note(loaded, undefined)).toEqual([]);
  });
});

describe('a field', () => {
  it.each([
    ['half of the channels lack it', 3, 3, false],
    ['more than half of them lack it', 4, 3, true],
    ['two channels removed it, and nobody else has it', 2, 0, false],
  ])('that vanishes where %s', (_what, lacking, having, isMissing) => {
    for (let number = 0; number < having; number += 1) note(100 + number);
    for (let number = 0; number < lacking; number += 1) note(number, { country: null });
    for (let again = 0; again < 5; again += 1) note(0, { country: null });
    expect(missingFields.isMissing('country')).toBe(isMissing);
    expect(problems()).toEqual(isMissing ? ['field country'] : []);
  });

  it('is missing after five answers about one channel whose part was lost in most of them, until one more has it', () => {
    note(1);
    for (let answer = 0; answer < 3; answer += 1) note(1, { country: null }, ['country']);
    expect(problems()).toEqual([]);
    note(1, { country: null }, ['country']);
    expect(problems()).toEqual(['field country']);
    note(1);
    expect(problems()).toEqual([]);
  });

  it('is compared for an hour, and for the 1,000 channels that were loaded last', () => {
    for (let number = 0; number < 5; number += 1) note(number, { country: null }, ['country']);
    for (let number = 0; number < 996; number += 1) note(1_000 + number, { country: null, links: null });
    expect(heldBy(runtime, 'channels whose fields are compared')).toMatchObject({ entries: 1_000, maxEntries: 1_000 });
    expect(missingFields.isMissing('country')).toBe(true);
    clock.advance(HOUR_MS);
    missingFields.update();
    expect(missingFields.isMissing('country')).toBe(false);
    expect(heldBy(runtime, 'channels whose fields are compared').entries).toBe(0);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/http/response/problems.ts';
import { FAILURE_KINDS } from '../helpers/failure-kinds.ts';
import {
  type Observation,
  type Observations,
  observeFailure,
  QUESTIONS,
  type Question,
  renderObservations,
} from '../helpers/failure-observation.ts';
import { HANG_MS } from '../helpers/wait.ts';

const observed = new Map<string, Observations>();

beforeAll(async () => {
  // The slow ones only wait: they run beside the others, which are measured one after the other.
  const slow = FAILURE_KINDS.filter(({ isSlow }) => isSlow).map((kind) => observeFailure(kind));
  for (const kind of FAILURE_KINDS) {
    const isBeside = FAILURE_KINDS.filter(({ isSlow }) => isSlow).indexOf(kind);
    observed.set(kind.name, await (slow[isBeside] ?? observeFailure(kind)));
  }
  if (process.env.REPORT !== undefined) console.log(renderObservations(observed));
}, FAILURE_KINDS.length * HANG_MS);

function observationOf(kind: string, question: Question): Observation {
  const observation = observed.get(kind)?.[question];
  if (observation === undefined) throw new Error(`${question} was not asked of ${kind}`);
  return observation;
}

const questions = Object.keys(QUESTIONS) as Question[];
const isStored = (question: Question) => question.endsWith('stored');

describe.each(FAILURE_KINDS)('while upstream answers everything with $name', ({ name, channels, pictures }) => {
  it.each(questions.filter((question) => !isStored(question)))(
    '%s: says what happened and when to ask again',
    (question) => {
      const { answer } = observationOf(name, question);
      const code = question.startsWith('picture') ? pictures : channels;
      expect([answer.json().code, answer.status]).toEqual([code, PROBLEMS[code].status]);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|ENOTFOUND|upstream\.invalid|google\.com/);
    },
  );

  it.each(questions.filter(isStored))('%s: is the last good value', (question) => {
    const { answer, before } = observationOf(name, question);
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(before?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(answer.headers.etag).toBe(before?.headers.etag);
    const maxAge = question.startsWith('picture') ? 86_400 : 60;
    expect(answer.headers['cache-control']).toBe(`public, max-age=${maxAge}`);
    expect(answer.headers['cache-status']).toMatch(/^pennant; hit; ttl=-\d+; detail="[\w ]+"$/);
  });
});

it.each(FAILURE_KINDS.filter(({ isSlow }) => isSlow))('no old value waits until $name is given up', ({ name }) => {
  const order = questions.toSorted((one, other) => observationOf(name, one).place - observationOf(name, other).place);
  const stored = questions.filter(isStored);
  expect(new Set(order.slice(0, stored.length))).toEqual(new Set(stored));
});

it('a time that upstream names is passed on', () => {
  const { answer } = observationOf('429 with Retry-After: 90', 'record, new');
  expect(answer.headers['retry-after']).toBe('90');
});

import type { Span, SpanAttributes, SpanStart } from '../../src/lib/tracing/span.ts';

/** A span that writes down what becomes of it. */
export interface RecordedSpan extends Span {
  readonly name: string;
  readonly attributes: SpanAttributes;
  readonly failure: { readonly type: string; readonly message: string | undefined } | undefined;
  readonly isEnded: boolean;
  readonly children: readonly RecordedSpan[];
}

export function recordSpan({ name, attributes = {} }: SpanStart = { name: 'request' }): RecordedSpan {
  const children: RecordedSpan[] = [];
  let currentName = name;
  let all = attributes;
  let failure: RecordedSpan['failure'];
  let isEnded = false;
  return {
    get name() {
      return currentName;
    },
    traceId: '0af7651916cd43dd8448eb211c80319c',
    children,
    get attributes() {
      return all;
    },
    get failure() {
      return failure;
    },
    get isEnded() {
      return isEnded;
    },
    startChild(start) {
      const child = recordSpan(start);
      children.push(child);
      return child;
    },
    rename(newName) {
      currentName = newName;
    },
    setAttributes(more) {
      all = { ...all, ...more };
    },
    fail(type, message) {
      failure = { type, message };
    },
    end() {
      isEnded = true;
    },
  };
}

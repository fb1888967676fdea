/**
 * How a field of a record came out of an upstream answer:
 * - `fine`: from where the newest layout has it
 * - `absent`: the channel need not have it
 * - `older`: only from where an older layout has it
 * - `rounded`: only as a rounded stopgap
 * - `unreadable`: something stands where the newest layout has it, in an unknown form
 * - `missing`: nowhere, though every ordinary channel has it
 */
export type FieldState = 'fine' | 'absent' | 'older' | 'rounded' | 'unreadable' | 'missing';

export interface FieldFinding {
  readonly field: string;
  readonly state: FieldState;
  /** As a record has it; `null` where nothing could be read. */
  readonly value: unknown;
  /** The part of the answer that carried it. */
  readonly path: string | null;
  /** What an operator should know beyond the state. */
  readonly note: string | null;
}

/** True for what the service copes with or leaves out, but would not see while upstream is as it is known to be. */
export function isDrift({ state }: FieldFinding): boolean {
  return state !== 'fine' && state !== 'absent';
}

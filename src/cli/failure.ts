import { printable } from '../domain/printable.ts';

/** The message of a full disk, missing rights and their like: for the operator, and no bug. `undefined` for others. */
export function systemFailure(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error ? printable(error.message) : undefined;
}

/** The message of a full disk, missing rights and their like: for the operator, and no bug. `undefined` for others. */
export function systemFailure(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error ? error.message : undefined;
}

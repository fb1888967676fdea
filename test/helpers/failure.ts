import { expect } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';

/** The error that a response ends with. */
export async function failureOf(response: Promise<unknown>): Promise<AppError> {
  const error = await response.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

/** The code of that error or, for a bug, the error itself; "found" if there is none. */
export function codeOf(response: Promise<unknown>): Promise<string> {
  const described = (error: unknown) => (error instanceof AppError ? error.code : String(error));
  return response.then(() => 'found', described);
}

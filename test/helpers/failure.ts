import { expect } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';

/** The error that an answer ends with. */
export async function failureOf(answer: Promise<unknown>): Promise<AppError> {
  const error = await answer.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

/** The code of that error or, for a bug, the error itself; "found" if there is none. */
export function codeOf(answer: Promise<unknown>): Promise<string> {
  const described = (error: unknown) => (error instanceof AppError ? error.code : String(error));
  return answer.then(() => 'found', described);
}

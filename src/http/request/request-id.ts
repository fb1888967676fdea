import { randomBytes } from 'node:crypto';

/** Ids for logs and answers, unique among the processes of a service: a random start and a number. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

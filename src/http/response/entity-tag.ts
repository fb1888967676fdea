import { createHash } from 'node:crypto';

/** A strong entity tag (RFC 9110 section 8.8.3) of these very bytes. */
export function entityTag(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

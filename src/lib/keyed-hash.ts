import { hash as digest, randomFillSync } from 'node:crypto';

/** Hash of a text, 32 bits, unsigned. The upper bits are the best. */
export type KeyedHash = (text: string) => number;

const COEFFICIENTS = 256;

/**
 * A hash whose coefficients are drawn at random: who does not know them cannot choose texts that collide more often than
 * random ones (multilinear hashing; Lemire and Kaser, "Strongly universal string hashing is fast", 2014). It depends on
 * every character.
 */
export function createKeyedHash(coefficients = randomFillSync(new Uint32Array(COEFFICIENTS))): KeyedHash {
  return (text) => {
    const hashed = text.length <= COEFFICIENTS ? text : digest('sha256', text);
    let sum = 0;
    for (let at = 0; at < hashed.length; at += 1) {
      // Plus one: a text and the same text with NUL characters behind it must differ.
      sum = (sum + Math.imul(coefficients[at] as number, hashed.charCodeAt(at) + 1)) | 0;
    }
    return sum >>> 0;
  };
}

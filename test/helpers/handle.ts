import { expect } from 'vitest';
import { findHandle, type Identifier } from '../../src/domain/identifier.ts';

export function handleIdentifier(name: string): Identifier {
  return findHandle(name) ?? expect.fail(`${name} is no handle`);
}

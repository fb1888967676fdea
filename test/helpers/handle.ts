import { expect } from 'vitest';
import { type ChannelRef, findHandle } from '../../src/domain/identifier.ts';

export function handleRef(name: string): ChannelRef {
  return findHandle(name) ?? expect.fail(`${name} is no handle`);
}

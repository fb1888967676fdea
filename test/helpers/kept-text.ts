import type { KeptText } from '../../src/sources/source.ts';

/** A text in this process's memory, which several "instances" may share. */
export function createMemoryText(initial?: string): KeptText & { text: string | undefined } {
  return {
    text: initial,
    async read() {
      return this.text;
    },
    async write(text) {
      this.text = text;
    },
  };
}

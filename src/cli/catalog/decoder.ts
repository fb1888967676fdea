import { errorCodeOf } from '../../domain/errors.ts';
import { createEncoder } from '../../images/encoder/encoder.ts';
import { OWN_WORK } from '../../lib/work.ts';

/** Decodes images in an encoder process, as the service does when it serves them. The caller closes it. */
export function createDecoder(signal: AbortSignal) {
  const encoder = createEncoder({ processes: 1 });
  return {
    /** Whether the image at the path can be decoded to its end. True if the command is stopped meanwhile. */
    async isWhole(path: string): Promise<boolean> {
      try {
        await encoder.inspect({ path }, { signal, client: OWN_WORK });
        return true;
      } catch (error) {
        if (signal.aborted) return true;
        if (errorCodeOf(error) === 'upstream_invalid') return false;
        throw error;
      }
    },
    close: () => encoder.close(),
  };
}

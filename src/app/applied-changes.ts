import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../lib/logger.ts';
import { type Checked, fields, numberIn, optional, parseJson, text } from '../lib/shape.ts';

export type AppliedChanges = ReturnType<typeof openAppliedChanges>;

const FILE_NAME = 'applied-changes.json';

const isPositions = fields({
  /** In the changes that instances share in Redis. */
  redis: optional(text(/^\d{1,16}-\d{1,16}$/)),
  /** In the catalog's own list of changes. */
  catalog: optional(fields({ id: text(/^[0-9a-f]{1,32}$/), sequence: numberIn(0, Number.MAX_SAFE_INTEGER) })),
});

/** The positions up to which changes have been applied to a `DATA_DIR`. */
export type AppliedPositions = Partial<Checked<typeof isPositions>>;

/** Stores the positions for the next start. */
export function openAppliedChanges(dataDir: string, logger: Logger) {
  const path = join(dataDir, FILE_NAME);
  let positions = read(path);
  let isReported = false;

  return {
    positions: () => positions,
    /** Changes some of the positions. A failure is reported once. Changes are then applied again at the next start. */
    save(changed: AppliedPositions): void {
      positions = { ...positions, ...changed };
      try {
        mkdirSync(dataDir, { recursive: true });
        writeFileSync(`${path}.tmp`, JSON.stringify(positions));
        renameSync(`${path}.tmp`, path);
      } catch (error) {
        if (!isReported)
          logger.warn({ err: error }, 'applied changes cannot be saved: the next start applies them again');
        isReported = true;
      }
    },
  };
}

/** Empty if the file is missing, unreadable or not written by the service. */
function read(path: string): AppliedPositions {
  try {
    return parseJson(readFileSync(path, 'utf8'), isPositions) ?? {};
  } catch {
    return {};
  }
}

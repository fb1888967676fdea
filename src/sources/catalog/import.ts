import type { Readable } from 'node:stream';
import { type NdjsonLine, readNdjsonLines } from './ndjson.ts';
import { parseRecord, RecordRefusedError } from './parse-record.ts';
import type { CatalogRecord } from './record.ts';
import type { CatalogWriter } from './writer.ts';

/** Enough that commits cost little, few enough that another import or a removal waits only a moment. */
const RECORDS_PER_BATCH = 5_000;
/** Lines of a batch are held in memory until it is written. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;

export interface ImportSummary {
  readonly added: number;
  readonly replaced: number;
  readonly refused: number;
}

export interface ImportOptions {
  /** The folder that `bannerFile` and `avatarFile` name files of. */
  readonly imagesFrom: string;
  /** Called for every line that is refused, in the order of the file. */
  readonly onRefused?: (lineNumber: number, reason: string) => void;
  /** Called after every batch with the bytes of the file that are dealt with. */
  readonly onProgress?: (bytesDone: number, summary: ImportSummary) => void;
}

/**
 * Imports NDJSON, one channel a line. A refused line changes nothing and keeps no other line from being imported.
 *
 * @throws CatalogUnusableError, and what reading the file throws; the batches before stay imported.
 */
export async function importChannels(
  writer: CatalogWriter,
  input: Readable,
  { imagesFrom, onRefused = () => {}, onProgress = () => {} }: ImportOptions,
): Promise<ImportSummary> {
  const counts = { added: 0, replaced: 0, refused: 0 };
  let batch: { readonly record: CatalogRecord; readonly lineNumber: number }[] = [];
  let refusals: { readonly lineNumber: number; readonly reason: string }[] = [];

  function take({ number, content }: NdjsonLine): void {
    try {
      if ('problem' in content) throw new RecordRefusedError('', content.problem);
      batch.push({ record: parseRecord(content.text), lineNumber: number });
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      refusals.push({ lineNumber: number, reason: error.message });
    }
  }

  function flush(bytesDone: number): void {
    const records = batch.map(({ record }) => record);
    for (const [index, outcome] of writer.putBatch(records, imagesFrom).entries()) {
      if (outcome instanceof RecordRefusedError) {
        refusals.push({ lineNumber: batch[index]?.lineNumber ?? 0, reason: outcome.message });
      } else {
        counts[outcome] += 1;
      }
    }
    counts.refused += refusals.length;
    refusals.sort((a, b) => a.lineNumber - b.lineNumber);
    for (const { lineNumber, reason } of refusals) onRefused(lineNumber, reason);
    batch = [];
    refusals = [];
    onProgress(bytesDone, { ...counts });
  }

  let bytesRead = 0;
  let bytesDone = 0;
  for await (const line of readNdjsonLines(input)) {
    take(line);
    bytesRead = line.endOffset;
    if (batch.length >= RECORDS_PER_BATCH || bytesRead - bytesDone >= MAX_BATCH_BYTES) {
      flush(bytesRead);
      bytesDone = bytesRead;
    }
  }
  flush(bytesRead);
  return counts;
}

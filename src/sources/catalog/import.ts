import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OperatorError } from '../../domain/errors.ts';
import { MissingImageError, requireWholeImage } from './image-files.ts';
import { type NdjsonLine, readNdjsonLines } from './ndjson.ts';
import { type CatalogRecord, collectMistakes, parseRecord, RecordRefusedError } from './record.ts';
import type { CatalogWriter } from './writer.ts';

/** Large enough for cheap commits, small enough that another import or a removal waits only briefly. */
const LINES_PER_BATCH = 5_000;
/** The lines of a batch are kept in memory until they are written. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** Writing a batch blocks the process, and copies each image. */
const MAX_BATCH_IMAGES = 16;

export interface ImportSummary {
  readonly added: number;
  readonly replaced: number;
  readonly refused: number;
  /** How many of the refused lines name an image that is not in the folder. */
  readonly withoutImage: number;
  /** The number of the last line that was read, from 1. */
  readonly lastLine: number;
}

export interface ImportOptions {
  /** The folder of the files in `bannerFile` and `avatarFile`. */
  readonly imagesFrom: string;
  /** Whether the image at a path can be decoded to its end. By default only its first bytes are read. */
  readonly isWhole?: ((path: string) => Promise<boolean>) | undefined;
  /** Called for every rejected line, in the order of the file. */
  readonly onRefused?: (lineNumber: number, reason: string) => void;
  /** Called for an imported line without one of its names. */
  readonly onWarning?: (lineNumber: number, warning: string) => void;
  /** Called after every batch with the number of processed bytes. */
  readonly onProgress?: (bytesDone: number, summary: ImportSummary) => void;
  /** After an abort no further line is read. Lines that were read before are imported. */
  readonly signal?: AbortSignal;
}

/** The input is no NDJSON: nothing was imported. The message says how to convert it. */
export class NoNdjsonError extends OperatorError {}

/**
 * Imports NDJSON with one channel for each line. A rejected line changes nothing and does not stop the import.
 *
 * @throws NoNdjsonError, CatalogUnusableError, and errors of reading the file; earlier batches stay imported
 */
export async function importChannels(
  writer: CatalogWriter,
  input: Readable,
  { imagesFrom, isWhole, onRefused = () => {}, onWarning = () => {}, onProgress = () => {}, signal }: ImportOptions,
): Promise<ImportSummary> {
  const counts = { added: 0, replaced: 0, refused: 0, withoutImage: 0, lastLine: 0 };
  let batch: { readonly lineNumber: number; readonly record: CatalogRecord | RecordRefusedError }[] = [];
  let images = 0;

  async function addToBatch({ number, content }: NdjsonLine): Promise<void> {
    try {
      if ('problem' in content) throw new RecordRefusedError('', content.problem);
      const record = parseRecord(content.text);
      if (isWhole !== undefined) await requireWholeImages(record, { fromDir: imagesFrom, isWhole });
      batch.push({ lineNumber: number, record });
      images += Number(record.bannerFile !== null) + Number(record.avatarFile !== null);
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      batch.push({ lineNumber: number, record: error });
    }
  }

  function flush(bytesDone: number): void {
    const records = batch.map(({ record }) => record);
    const warnings: { readonly index: number; readonly warning: string }[] = [];
    const outcomes = writer.putBatch(records, imagesFrom, (index, warning) => warnings.push({ index, warning }));
    const warningsOf = Map.groupBy(warnings, ({ index }) => index);
    for (const [index, outcome] of outcomes.entries()) {
      for (const { warning } of warningsOf.get(index) ?? []) onWarning(batch[index]?.lineNumber ?? 0, warning);
      if (outcome instanceof RecordRefusedError) {
        counts.refused += 1;
        if (outcome instanceof MissingImageError) counts.withoutImage += 1;
        onRefused(batch[index]?.lineNumber ?? 0, outcome.message);
      } else {
        counts[outcome] += 1;
      }
    }
    batch = [];
    images = 0;
    onProgress(bytesDone, { ...counts });
  }

  let bytesRead = 0;
  let bytesDone = 0;
  try {
    for await (const line of readNdjsonLines(signal === undefined ? input : addAbortSignal(signal, input))) {
      if (counts.lastLine === 0) requireNdjson(line.content);
      await addToBatch(line);
      counts.lastLine = line.number;
      bytesRead = line.endOffset;
      if (batch.length >= LINES_PER_BATCH || images >= MAX_BATCH_IMAGES || bytesRead - bytesDone >= MAX_BATCH_BYTES) {
        flush(bytesRead);
        bytesDone = bytesRead;
        // Signals are only delivered between turns of the event loop.
        await nextTurn();
      }
      if (signal?.aborted) break;
    }
  } catch (error) {
    // The signal destroys the input.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
  if (counts.lastLine === 0 && !signal?.aborted) throw new NoNdjsonError(`The file is empty. ${ONE_PER_LINE}.`);
  flush(bytesRead);
  return counts;
}

const ONE_PER_LINE = 'A file of channels has one JSON object per line';

/** Recognizes a file of another form, which would have an error for every line, by its first line. @throws NoNdjsonError */
function requireNdjson(content: NdjsonLine['content']): void {
  const isRead = 'text' in content;
  const first = (isRead ? content.text : content.firstCharacter).trim();
  if (first.startsWith('{') && (first.endsWith('}') || !isRead)) return;
  if (first.startsWith('{') && first.endsWith('},')) {
    throw new NoNdjsonError(`The first line ends with a comma. ${ONE_PER_LINE}, without a comma after it.`);
  }
  if (first.startsWith('{')) throw new NoNdjsonError(`The first line is not one JSON object. ${ONE_PER_LINE}: jq -c .`);
  if (first.startsWith('[')) throw new NoNdjsonError(`The file is a JSON array. ${ONE_PER_LINE}: jq -c '.[]'`);
  throw new NoNdjsonError(`The file is not JSON in UTF-8. ${ONE_PER_LINE} (docs/catalog.md).`);
}

/** @throws RecordRefusedError if images of the record are missing, damaged or incomplete */
export async function requireWholeImages(
  { bannerFile, avatarFile }: CatalogRecord,
  check: Parameters<typeof requireWholeImage>[2],
): Promise<void> {
  const mistakes = collectMistakes();
  for (const [field, fileName] of Object.entries({ bannerFile, avatarFile })) {
    if (fileName !== null) await requireWholeImage(field, fileName, check).catch(mistakes.note);
  }
  mistakes.refuseIfAny();
}

import { isUtf8 } from 'node:buffer';
import { createReadStream, existsSync, linkSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OperatorError } from '../../domain/errors.ts';
import { hasErrorCode, makeDirectory } from '../../lib/file-system.ts';
import { createDraftFolder } from './drafts.ts';
import { MissingImageError, requireWholeImage } from './image-files.ts';
import { type CatalogRecord, collectMistakes, parseRecord, RecordRefusedError } from './record.ts';
import { type CatalogPaths, CatalogUnusableError, catalogPaths } from './schema.ts';
import { type CatalogWriter, withWriter } from './writer.ts';

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

/** Well above the longest record (record.ts bounds each field), and small in memory. */
export const MAX_LINE_BYTES = 512 * 1024;

export interface NdjsonLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** The number of bytes up to the end of this line. */
  readonly endOffset: number;
  readonly content: { readonly text: string } | { readonly problem: string; readonly firstCharacter: string };
}

/**
 * Splits a file into lines and skips blank ones. Keeps at most one line in memory. Removes a byte order mark and carriage
 * returns. A line that is too long or not UTF-8 is returned as a problem, followed by the other lines.
 */
export async function* readNdjsonLines(input: Readable): AsyncGenerator<NdjsonLine> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let partBytes = 0;
  let firstCharacter = '';

  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      offset += end - start + 1;
      start = end + 1;
      yield* finishLine();
    }
    keep(chunk.subarray(start));
    offset += chunk.length - start;
  }
  yield* finishLine();

  function keep(part: Buffer): void {
    if (partBytes === 0) firstCharacter = part.toString('latin1', 0, 1);
    partBytes += part.length;
    // Bytes over the limit are counted but not kept.
    if (partBytes <= MAX_LINE_BYTES) parts.push(part);
  }

  function* finishLine(): Generator<NdjsonLine> {
    number += 1;
    const content = readContent({ parts, bytes: partBytes, firstCharacter, isFirst: number === 1 });
    parts = [];
    partBytes = 0;
    if (content !== undefined) yield { number, endOffset: offset, content };
  }
}

const NEWLINE = 0x0a;

interface ReadLine {
  /** Fewer bytes than `bytes` if the line is too long. */
  readonly parts: readonly Buffer[];
  readonly bytes: number;
  readonly firstCharacter: string;
  readonly isFirst: boolean;
}

function readContent({ parts, bytes, firstCharacter, isFirst }: ReadLine): NdjsonLine['content'] | undefined {
  if (bytes > MAX_LINE_BYTES) return { problem: `longer than ${MAX_LINE_BYTES} bytes`, firstCharacter };
  const joined = Buffer.concat(parts, bytes);
  if (!isUtf8(joined)) return { problem: 'not UTF-8', firstCharacter };
  const text = joined.toString('utf8').replace(/\r$/, '');
  const line = isFirst && text.startsWith('\u{feff}') ? text.slice(1) : text;
  return line.trim() === '' ? undefined : { text: line };
}

export interface NewCatalog {
  /** The folder of `catalog.db` and `catalog-images/`. It is created if it is missing. */
  readonly dataDir: string;
  /** A folder with `channels.ndjson` and `images/`; `null`: the new catalog is empty. */
  readonly samplesDir: string | null;
}

/**
 * Creates a new catalog. It is built in a draft folder, with its images, and gets its name when it is complete. If
 * another process was faster, its catalog is kept and this one is removed.
 *
 * @throws CatalogUnusableError if a sample is rejected, and errors of the file system
 */
export async function createCatalogFile({ dataDir, samplesDir }: NewCatalog): Promise<void> {
  const paths = catalogPaths(dataDir);
  if (existsSync(paths.database)) return;
  // The log of a former catalog that was moved away: SQLite would add its pages to the new one. Later it may be the log of
  // a catalog that another process has just created.
  for (const suffix of ['-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true });
  const draftDir = createDraftFolder(dataDir);
  try {
    const draft = catalogPaths(draftDir);
    await withWriter(draft, (writer) => (samplesDir === null ? undefined : importSamples(writer, samplesDir)));
    if (existsSync(paths.database)) return;
    // Images first: a catalog never refers to a missing image.
    if (existsSync(draft.images)) {
      makeDirectory(paths.images);
      for (const name of readdirSync(draft.images)) linkUnlessThere(join(draft.images, name), join(paths.images, name));
    }
    linkUnlessThere(draft.database, paths.database);
  } catch (error) {
    if (!(error instanceof CatalogUnusableError)) throw error;
    // The draft has another path in each attempt, so that equal failures would look different.
    throw new CatalogUnusableError(error.message.replace(draftDir, dataDir), { cause: error });
  } finally {
    rmSync(draftDir, { recursive: true });
  }
}

/**
 * Changes the catalog. Creates an empty one if there is none: a service that starts meanwhile must not see half of it.
 *
 * @throws CatalogUnusableError
 */
export async function updateCatalog<T>(
  paths: CatalogPaths,
  work: (writer: CatalogWriter) => Promise<T> | T,
): Promise<T> {
  if (!existsSync(paths.database)) await createCatalogFile({ dataDir: dirname(paths.database), samplesDir: null });
  return withWriter(paths, work);
}

async function importSamples(writer: CatalogWriter, samplesDir: string): Promise<void> {
  const file = join(samplesDir, 'channels.ndjson');
  await importChannels(writer, createReadStream(file), {
    imagesFrom: join(samplesDir, 'images'),
    onRefused(lineNumber, reason) {
      throw new CatalogUnusableError(`${file} is broken: line ${lineNumber}: ${reason}`);
    },
  });
}

/** Unlike a rename, a link never replaces a file. */
function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  }
}

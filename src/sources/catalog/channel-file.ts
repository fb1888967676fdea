import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { OperatorError } from '../../domain/errors.ts';
import type { IdentifierKind } from '../../domain/identifier.ts';
import { isSystemError } from '../../lib/file-system.ts';
import { printable } from '../../lib/printable.ts';
import { type CatalogRecord, namesOf, parseRecord, RecordRefusedError } from './record.ts';

/** Enough for a path and a mistake. */
const MAX_MESSAGE_CHARACTERS = 1_000;

const BYTE_ORDER_MARK = /^\u{feff}/u;
/** What bytes that are no UTF-8 are read as. */
const REPLACEMENT = '\u{fffd}';

/** The catalog cannot be read. The message, for the operator, names the file and the line. */
export class CatalogUnusableError extends OperatorError {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message, MAX_MESSAGE_CHARACTERS), options);
    this.name = 'CatalogUnusableError';
  }
}

/** The file of the channels in a catalog's folder. */
export function channelFileOf(folder: string): string {
  return join(folder, 'channels.ndjson');
}

/** The channels of a catalog, found by their ID, handle or user name. A catalog has no custom names. */
export type CatalogRecords = Readonly<Record<Exclude<IdentifierKind, 'custom'>, ReadonlyMap<string, CatalogRecord>>>;

/**
 * Reads all channels, in steps between which other work runs.
 *
 * @throws CatalogUnusableError if the file cannot be read, a line has a mistake, or two lines have the same ID or name
 */
export async function readChannelFile(folder: string): Promise<CatalogRecords> {
  const file = channelFileOf(folder);
  const records = {
    id: new Map<string, CatalogRecord>(),
    handle: new Map<string, CatalogRecord>(),
    username: new Map<string, CatalogRecord>(),
  };
  try {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
      number += 1;
      const text = number === 1 ? line.replace(BYTE_ORDER_MARK, '') : line;
      if (text.trim() === '') continue;
      try {
        if (text.includes(REPLACEMENT)) throw new RecordRefusedError('', 'not UTF-8');
        const record = parseRecord(text);
        const { handleKey, usernameKey } = namesOf(record);
        add('channelId', records.id, record.channelId, record);
        add('customUrl', records.handle, handleKey, record);
        add('username', records.username, usernameKey, record);
      } catch (error) {
        if (!(error instanceof RecordRefusedError)) throw error;
        throw new CatalogUnusableError(`${file}, line ${number}: ${error.message}`);
      }
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CatalogUnusableError(`${file} cannot be read (${error.message}).`, { cause: error });
  }
  return records;
}

function add(field: string, known: Map<string, CatalogRecord>, key: string | null, record: CatalogRecord): void {
  if (key === null) return;
  if (known.has(key)) throw new RecordRefusedError(field, `an earlier line has ${key}, too`);
  known.set(key, record);
}

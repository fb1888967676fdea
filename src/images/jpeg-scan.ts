import type { HuffmanTable, QuantisationTable } from './jpeg-tables.ts';

/** One colour component of a scan, with the tables that it is coded with. */
export interface ScanComponent {
  /** 8×8 blocks in each of the scan's units. */
  readonly blocksPerUnit: number;
  readonly quantisation: QuantisationTable;
  readonly dc: HuffmanTable;
  readonly ac: HuffmanTable;
}

export interface Scan {
  /** Minimum coded units: what the components share, usually 16×16 pixels. */
  readonly units: number;
  readonly components: readonly ScanComponent[];
  /** Units between two restart markers; 0 for none. */
  readonly restartInterval: number;
}

/**
 * Walks through the compressed data of a baseline scan (ITU-T T.81 section F.2.2) and notes in the tables what of them
 * it needs.
 *
 * @returns where the marker after the scan stands; `undefined` when the data is broken, or is not exactly what the units
 * need: a whole byte too much, padding other than ones, restart markers in the wrong place.
 */
export function findScanEnd(bytes: Buffer, start: number, scan: Scan): number | undefined {
  const reader = new BitReader(bytes, start);
  const blocks = scan.components.flatMap((component) => Array<ScanComponent>(component.blocksPerUnit).fill(component));
  for (let unit = 0; unit < scan.units; unit += 1) {
    const isRestart = scan.restartInterval > 0 && unit > 0 && unit % scan.restartInterval === 0;
    if (isRestart && !reader.skipRestart((unit / scan.restartInterval - 1) % RESTART_MARKERS)) return undefined;
    for (const block of blocks) if (!readBlock(reader, block)) return undefined;
  }
  return reader.findMarker();
}

const RESTART_MARKERS = 8;
const FIRST_RESTART_MARKER = 0xd0;
const BLOCK_COEFFICIENTS = 64;
/** Of 8-bit pictures (T.81 tables F.1 and F.2). */
const MAX_DC_BITS = 11;
const MAX_AC_BITS = 10;
const SIXTEEN_ZEROS = 0xf0;

/** False when the block is broken. */
function readBlock(reader: BitReader, { quantisation, dc, ac }: ScanComponent): boolean {
  const dcBits = reader.readSymbol(dc);
  if (dcBits < 0 || dcBits > MAX_DC_BITS || !reader.skipBits(dcBits)) return false;
  if (dcBits > 0) quantisation.used[0] = 1;
  let at = 1;
  while (at < BLOCK_COEFFICIENTS) {
    const symbol = reader.readSymbol(ac);
    if (symbol === 0) return true;
    const bits = symbol & 15;
    at += symbol >> 4;
    const isValid = symbol === SIXTEEN_ZEROS || (bits > 0 && bits <= MAX_AC_BITS);
    if (symbol < 0 || !isValid || at >= BLOCK_COEFFICIENTS || !reader.skipBits(bits)) return false;
    if (bits > 0) quantisation.used[at] = 1;
    at += 1;
  }
  return true;
}

/** Reads bits, most significant first, and takes out the zero that follows each 0xff of the data. */
class BitReader {
  readonly #bytes: Buffer;
  /** Of the next byte that is not in the buffer. */
  #at: number;
  /** Its lowest `#count` bits are the next ones of the data. */
  #buffer = 0;
  #count = 0;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  /** The next symbol; -1 where the data has none. */
  readSymbol({ lookup, symbols, used }: HuffmanTable): number {
    this.#fill();
    const missing = Math.max(0, 16 - this.#count);
    // Where fewer bits are left, the rest counts as ones: no code is ones alone.
    const next = (((this.#buffer << missing) | (2 ** missing - 1)) >>> Math.max(0, this.#count - 16)) & 0xffff;
    const found = lookup[next] as number;
    if (found === 0 || !this.skipBits(found >> 8)) return -1;
    used[found & 255] = 1;
    return symbols[found & 255] as number;
  }

  /** False where the data has fewer bits, at most 16. */
  skipBits(bits: number): boolean {
    if (this.#count < bits) this.#fill();
    this.#count -= bits;
    return this.#count >= 0;
  }

  /** Skips the restart marker with this number, which must be what comes next. */
  skipRestart(number: number): boolean {
    const marker = this.findMarker();
    if (marker === undefined || this.#bytes[marker + 1] !== FIRST_RESTART_MARKER + number) return false;
    this.#at = marker + 2;
    this.#count = 0;
    return true;
  }

  /** Where the next marker stands; `undefined` when other data than a byte's padding of ones comes before it. */
  findMarker(): number | undefined {
    this.#fill();
    const padding = 2 ** this.#count - 1;
    const isPadded = this.#count < 8 && (this.#buffer & padding) === padding;
    return isPadded && this.#bytes[this.#at] === 0xff ? this.#at : undefined;
  }

  /** Up to 24 bits, or as many as there are before the next marker. */
  #fill(): void {
    while (this.#count <= 16 && this.#at < this.#bytes.length) {
      const byte = this.#bytes[this.#at] as number;
      if (byte === 0xff && this.#bytes[this.#at + 1] !== 0) return;
      this.#at += byte === 0xff ? 2 : 1;
      this.#buffer = (this.#buffer << 8) | byte;
      this.#count += 8;
    }
  }
}

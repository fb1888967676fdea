/** One colour component of a scan, with the tables that it is coded with. */
export interface ScanComponent {
  /** 8×8 blocks in each of the scan's units. */
  readonly blocksPerUnit: number;
  readonly quantisation: Table;
  readonly dc: HuffmanTable;
  readonly ac: HuffmanTable;
}

export interface Scan {
  /** The number of minimum coded units, usually 16×16 pixels each. */
  readonly units: number;
  readonly components: readonly ScanComponent[];
  /** Units between two restart markers; 0 for none. */
  readonly restartInterval: number;
}

/**
 * Reads the compressed data of a baseline scan (ITU-T T.81 section F.2.2) and marks the table entries that it uses.
 *
 * @returns the position of the marker after the scan; `undefined` if the data is broken or not exactly what the units need:
 * an additional byte, padding other than ones, restart markers in wrong places
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
/** Of 8-bit images (T.81 tables F.1 and F.2). */
const MAX_DC_BITS = 11;
const MAX_AC_BITS = 10;
const SIXTEEN_ZEROS = 0xf0;

/** Returns false if the block is broken. */
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

/** Reads bits, most significant first, and removes the zero byte after each 0xff. */
class BitReader {
  readonly #bytes: Buffer;
  /** The position of the next byte that is not in the buffer. */
  #at: number;
  /** Its lowest `#count` bits are the next bits of the data. */
  #buffer = 0;
  #count = 0;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  /** The next symbol; -1 if there is none. */
  readSymbol({ lookup, symbols, used }: HuffmanTable): number {
    this.#fill();
    const missing = Math.max(0, 16 - this.#count);
    // Missing bits count as ones, because no code consists of ones only.
    const next = (((this.#buffer << missing) | (2 ** missing - 1)) >>> Math.max(0, this.#count - 16)) & 0xffff;
    const found = lookup[next] as number;
    if (found === 0 || !this.skipBits(found >> 8)) return -1;
    used[found & 255] = 1;
    return symbols[found & 255] as number;
  }

  /** Skips at most 16 bits. Returns false if the data has fewer. */
  skipBits(bits: number): boolean {
    if (this.#count < bits) this.#fill();
    this.#count -= bits;
    return this.#count >= 0;
  }

  /** Skips the restart marker with this number. Returns false if something else comes next. */
  skipRestart(number: number): boolean {
    const marker = this.findMarker();
    if (marker === undefined || this.#bytes[marker + 1] !== FIRST_RESTART_MARKER + number) return false;
    this.#at = marker + 2;
    this.#count = 0;
    return true;
  }

  /** The position of the next marker; `undefined` if anything but padding with ones comes before it. */
  findMarker(): number | undefined {
    this.#fill();
    const padding = 2 ** this.#count - 1;
    const isPadded = this.#count < 8 && (this.#buffer & padding) === padding;
    return isPadded && this.#bytes[this.#at] === 0xff ? this.#at : undefined;
  }

  /** Fills the buffer with up to 24 bits, or with the bits before the next marker. */
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

/** A quantisation or Huffman table of a file, and what an image uses of it. */
export interface Table {
  /** By index, in zigzag order for coefficients: 1 if the image uses the entry. */
  readonly used: Uint8Array;
  /** True for the tables in the standard, scaled or not. */
  readonly isStandard: boolean;
}

export interface HuffmanTable extends Table {
  /** For each 16 bits: the length of the code times 256 plus its index; 0 if no code starts like this. */
  readonly lookup: Uint16Array;
  readonly symbols: Buffer;
  /** Its size in the file. */
  readonly bytes: number;
}

/** True if the image uses every entry, or the table is a standard one. */
export function isNeeded({ used, isStandard }: Table): boolean {
  return isStandard || used.every((isUsed) => isUsed === 1);
}

/** @param divisors 64 in zigzag order */
export function createQuantisationTable(divisors: Buffer): Table {
  return { used: new Uint8Array(divisors.length), isStandard: STANDARD_QUANTISATION.has(divisors.toString('hex')) };
}

const CODE_LENGTHS = 16;
const MAX_SYMBOLS = 256;

/**
 * Reads a table at the start of `content`: the number of codes of each length from 1 to 16, then their symbols. `undefined`
 * if there are more codes than their lengths allow, or too few bytes.
 */
export function createHuffmanTable(tableClass: number, content: Buffer): HuffmanTable | undefined {
  if (content.length < CODE_LENGTHS) return undefined;
  const counts = content.subarray(0, CODE_LENGTHS);
  const bytes = counts.reduce((sum, count) => sum + count, CODE_LENGTHS);
  const symbols = content.subarray(CODE_LENGTHS, bytes);
  const lookup = new Uint16Array(65_536);
  let code = 0;
  let index = 0;
  for (let length = 1; length <= CODE_LENGTHS; length += 1) {
    const free = CODE_LENGTHS - length;
    for (let left = counts.readUInt8(length - 1); left > 0; left -= 1) {
      // The code of ones alone is reserved.
      if (code >= 2 ** length - 1 || index >= Math.min(symbols.length, MAX_SYMBOLS)) return undefined;
      lookup.fill(length * 256 + index, code << free, (code + 1) << free);
      code += 1;
      index += 1;
    }
    code *= 2;
  }
  const isStandard = STANDARD_HUFFMAN[tableClass]?.includes(content.toString('hex', 0, bytes)) ?? false;
  return { lookup, symbols, bytes, used: new Uint8Array(index), isStandard };
}

/** ITU-T T.81 tables K.3 to K.6, for luminance and chrominance; by class: DC, AC. */
const STANDARD_HUFFMAN: readonly (readonly string[])[] = [
  [
    '00010501010101010100000000000000000102030405060708090a0b',
    '00030101010101010101010000000000000102030405060708090a0b',
  ],
  [
    '0002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a' +
      '161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a8384858687' +
      '88898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7' +
      'e8e9eaf1f2f3f4f5f6f7f8f9fa',
    '00020102040403040705040400010277000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a1624' +
      '34e125f11718191a262728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485' +
      '868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6' +
      'e7e8e9eaf2f3f4f5f6f7f8f9fa',
  ],
];

/** ITU-T T.81 tables K.1 and K.2, in zigzag order. */
const BASE_QUANTISATION = [
  '100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933383740485c4e404457453738506d51575f626768673e4d71797064785c656763',
  '1112121815182f1a1a2f634238426363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363',
].map((hex) => Buffer.from(hex, 'hex'));

/** These tables at every quality from 1 to 100, scaled as libjpeg does (`jpeg_quality_scaling`), as most encoders do. */
const STANDARD_QUANTISATION: ReadonlySet<string> = new Set(
  Array.from({ length: 100 }, (_, index) => index + 1).flatMap((quality) => {
    const percent = quality < 50 ? Math.floor(5000 / quality) : 200 - 2 * quality;
    return BASE_QUANTISATION.map((base) =>
      Buffer.from(
        base.map((divisor) => Math.min(255, Math.max(1, Math.floor((divisor * percent + 50) / 100)))),
      ).toString('hex'),
    );
  }),
);

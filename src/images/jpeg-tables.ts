/** A quantisation table, and for which coefficients a picture needs it. */
export interface QuantisationTable {
  /** 64 divisors in zigzag order. */
  readonly divisors: Buffer;
  /** 1 where some block has a coefficient. */
  readonly used: Uint8Array;
}

/** A Huffman table, and which of its codes a picture needs. */
export interface HuffmanTable {
  /** By the next 16 bits: the code's length times 256 plus its index; 0 where no code begins so. */
  readonly lookup: Uint16Array;
  readonly symbols: Buffer;
  /** By index. */
  readonly used: Uint8Array;
  /** One of the tables that the standard prints. */
  readonly isStandard: boolean;
}

export function createQuantisationTable(divisors: Buffer): QuantisationTable {
  return { divisors, used: new Uint8Array(divisors.length) };
}

const CODE_LENGTHS = 16;
const MAX_SYMBOLS = 256;

/**
 * Reads a table as a file has it: how many codes there are of each length from 1 to 16, then their symbols.
 * `undefined` when there are more codes than their lengths allow, or fewer bytes than they need.
 */
export function createHuffmanTable(tableClass: number, definition: Buffer): HuffmanTable | undefined {
  const symbols = definition.subarray(CODE_LENGTHS);
  const lookup = new Uint16Array(65_536);
  let code = 0;
  let index = 0;
  for (let length = 1; length <= CODE_LENGTHS; length += 1) {
    const free = CODE_LENGTHS - length;
    for (let left = definition.readUInt8(length - 1); left > 0; left -= 1) {
      // The code of ones alone is reserved.
      if (code >= 2 ** length - 1 || index >= Math.min(symbols.length, MAX_SYMBOLS)) return undefined;
      lookup.fill(length * 256 + index, code << free, (code + 1) << free);
      code += 1;
      index += 1;
    }
    code *= 2;
  }
  const isStandard = STANDARD_HUFFMAN[tableClass]?.includes(definition.toString('hex')) ?? false;
  return { lookup, symbols, used: new Uint8Array(index), isStandard };
}

/** How many bytes a Huffman table takes in a file, by its first 16. */
export function huffmanTableBytes(definition: Buffer): number {
  return CODE_LENGTHS + definition.subarray(0, CODE_LENGTHS).reduce((sum, count) => sum + count, 0);
}

/** True when no entry could be anything else without changing the picture, or the table is a well-known one. */
export function isNeededHuffman({ used, isStandard }: HuffmanTable): boolean {
  return isStandard || used.every((isUsed) => isUsed === 1);
}

/** The same for a quantisation table. */
export function isNeededQuantisation({ divisors, used }: QuantisationTable): boolean {
  return used.every((isUsed) => isUsed === 1) || STANDARD_QUANTISATION.has(divisors.toString('hex'));
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

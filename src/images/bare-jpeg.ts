import {
  createHuffmanTable,
  createQuantisationTable,
  findScanEnd,
  type HuffmanTable,
  isNeeded,
  type Scan,
  type Table,
} from './jpeg-scan.ts';

/**
 * Whether a JPEG of three components in one baseline scan contains its image and nothing else: no thumbnails, texts or
 * colour profiles, no unused tables or table entries, and no additional compressed data.
 *
 * ITU-T T.81 annex B for the structure, JFIF 1.02 for APP0, and Adobe Technical Note 5116 section 18 for APP14.
 */
export function isBareJpeg(bytes: Buffer): boolean {
  const header: Header = { segments: new Set(), quantisation: new Map(), huffman: new Map(), restartInterval: 0 };
  for (let at = 2; at + 4 <= bytes.length && bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const isSound = end <= bytes.length && SEGMENTS[marker]?.(header, bytes.subarray(at + 4, end));
    if (isSound !== true) return false;
    if (marker === START_OF_SCAN) return isExactScan(header, bytes, end);
    header.segments.add(marker);
    at = end;
  }
  return false;
}

/** The content of the segments before the scan. */
interface Header {
  /** Their markers. */
  readonly segments: Set<number>;
  readonly quantisation: Map<number, Table>;
  /** By class and number, combined in one byte as in the file. */
  readonly huffman: Map<number, HuffmanTable>;
  restartInterval: number;
  frame?: {
    /** The number of minimum coded units. */
    readonly units: number;
    readonly components: readonly {
      readonly id: number;
      readonly blocksPerUnit: number;
      readonly quantisation: number;
    }[];
  };
  scan?: Scan;
}

const FRAME = 0xc0;
const HUFFMAN_TABLES = 0xc4;
const START_OF_SCAN = 0xda;
const QUANTISATION_TABLES = 0xdb;
const RESTART_INTERVAL = 0xdd;
const JFIF = 0xe0;
const ADOBE = 0xee;
const END_OF_IMAGE = 0xd9;

/** Each reader returns false if the segment contains anything that is not needed or not known. */
const SEGMENTS: Readonly<Record<number, (header: Header, content: Buffer) => boolean>> = {
  [JFIF]: readJfif,
  [ADOBE]: readAdobe,
  [QUANTISATION_TABLES]: readQuantisationTables,
  [FRAME]: readFrame,
  [HUFFMAN_TABLES]: readHuffmanTables,
  [RESTART_INTERVAL]: readRestartInterval,
  [START_OF_SCAN]: readScan,
};

/** Version 1.00 to 1.02, square pixels, no thumbnail. */
function readJfif({ segments }: Header, content: Buffer): boolean {
  if (segments.size > 0 || content.length !== 14 || content.toString('latin1', 0, 5) !== 'JFIF\0') return false;
  const [major, minor = 0, unit = 0] = content.subarray(5);
  const hasSquarePixels = content.readUInt16BE(8) === content.readUInt16BE(10);
  return major === 1 && minor <= 2 && unit <= 2 && hasSquarePixels && content.readUInt16BE(12) === 0;
}

/** The two highest bits of the first flags mean that Photoshop blended pixels. */
const ADOBE_FLAGS_MASK = 0x3fff;

function readAdobe({ segments }: Header, content: Buffer): boolean {
  if (segments.has(ADOBE) || content.length !== 12 || content.toString('latin1', 0, 5) !== 'Adobe') return false;
  const hasKnownFlags = (content.readUInt16BE(7) & ADOBE_FLAGS_MASK) === 0 && content.readUInt16BE(9) === 0;
  return content.readUInt16BE(5) === 100 && hasKnownFlags && content.readUInt8(11) <= 1;
}

const DIVISORS = 64;

function readQuantisationTables({ quantisation }: Header, content: Buffer): boolean {
  for (let at = 0; at < content.length; at += 1 + DIVISORS) {
    const number = content.readUInt8(at);
    const divisors = content.subarray(at + 1, at + 1 + DIVISORS);
    if (number > 3 || quantisation.has(number) || divisors.length !== DIVISORS || divisors.includes(0)) return false;
    quantisation.set(number, createQuantisationTable(divisors));
  }
  return content.length > 0;
}

const COMPONENTS = 3;
/** Numbers in JFIF and most other files, letters in Adobe's. */
const COMPONENT_IDS: ReadonlySet<string> = new Set(['1,2,3', '0,1,2', '82,71,66']);

function readFrame(header: Header, content: Buffer): boolean {
  const hasLength = content.length === 6 + 3 * COMPONENTS && content.readUInt8(5) === COMPONENTS;
  if (header.frame !== undefined || !hasLength || content.readUInt8(0) !== 8) return false;
  const components = [6, 9, 12].map((at) => ({
    id: content.readUInt8(at),
    across: content.readUInt8(at + 1) >> 4,
    down: content.readUInt8(at + 1) & 15,
    quantisation: content.readUInt8(at + 2),
  }));
  const unitsAcross = Math.ceil(content.readUInt16BE(3) / (8 * Math.max(...components.map(({ across }) => across))));
  const unitsDown = Math.ceil(content.readUInt16BE(1) / (8 * Math.max(...components.map(({ down }) => down))));
  header.frame = {
    units: unitsAcross * unitsDown,
    components: components.map(({ across, down, ...rest }) => ({ ...rest, blocksPerUnit: across * down })),
  };
  const hasFactors = components.flatMap(({ across, down }) => [across, down]).every((each) => each >= 1 && each <= 4);
  return hasFactors && COMPONENT_IDS.has(components.map(({ id }) => id).join());
}

function readHuffmanTables({ huffman }: Header, content: Buffer): boolean {
  for (let rest = content; rest.length > 0; ) {
    const number = rest.readUInt8(0);
    const table = createHuffmanTable(number >> 4, rest.subarray(1));
    if (number >> 4 > 1 || (number & 15) > 3 || huffman.has(number) || table === undefined) return false;
    huffman.set(number, table);
    rest = rest.subarray(1 + table.bytes);
  }
  return content.length > 0;
}

function readRestartInterval(header: Header, content: Buffer): boolean {
  if (header.segments.has(RESTART_INTERVAL) || content.length !== 2) return false;
  header.restartInterval = content.readUInt16BE(0);
  return true;
}

/** The first and last coefficient, and the bit planes: all of them, as in every baseline scan. */
const WHOLE_SCAN = Buffer.from([0, 63, 0]);
const AC_CLASS = 0x10;

function readScan(header: Header, content: Buffer): boolean {
  const { frame, huffman, quantisation, restartInterval } = header;
  const hasLength = content.length === 1 + 2 * COMPONENTS + WHOLE_SCAN.length && content.readUInt8(0) === COMPONENTS;
  if (frame === undefined || !hasLength || !content.subarray(1 + 2 * COMPONENTS).equals(WHOLE_SCAN)) return false;
  const tables = new Set<Table>();
  const components = frame.components.flatMap(({ id, blocksPerUnit, quantisation: number }, index) => {
    const selected = content.readUInt8(2 + 2 * index);
    const divisors = quantisation.get(number);
    const dc = huffman.get(selected >> 4);
    const ac = huffman.get(AC_CLASS | (selected & 15));
    const isNext = content.readUInt8(1 + 2 * index) === id;
    if (!isNext || divisors === undefined || dc === undefined || ac === undefined) return [];
    for (const table of [divisors, dc, ac]) tables.add(table);
    return { blocksPerUnit, quantisation: divisors, dc, ac };
  });
  header.scan = { units: frame.units, components, restartInterval };
  return components.length === COMPONENTS && tables.size === huffman.size + quantisation.size;
}

function isExactScan({ scan, huffman, quantisation }: Header, bytes: Buffer, start: number): boolean {
  const end = scan && findScanEnd(bytes, start, scan);
  if (end === undefined || bytes[end + 1] !== END_OF_IMAGE || end + 2 !== bytes.length) return false;
  return [...huffman.values(), ...quantisation.values()].every(isNeeded);
}

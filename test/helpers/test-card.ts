import sharp, { type Sharp } from 'sharp';
import type { Rectangle, Size } from '../../src/domain/variants.ts';

/**
 * A black and white chequerboard whose lines are spaced irregularly, so that a crop that is shifted, scaled, mirrored
 * or turned shows: no other place of the card looks the same.
 */
export function drawTestCard(size: Size): Sharp {
  const columns = cellOfEach(size.width);
  const rows = cellOfEach(size.height);
  const pixels = Buffer.from(rows.flatMap((row) => columns.map((column) => ((row + column) % 2 === 0 ? 255 : 0))));
  return sharp(pixels, { raw: { ...size, channels: 1 } }).toColourspace('srgb');
}

/**
 * The largest difference in pixels between the positions of the card's lines in a picture and the expected positions.
 * Infinite if there are too few or too many lines.
 */
export async function measureOffset(picture: Buffer, card: Size, shown: Rectangle): Promise<number> {
  const { data, info } = await sharp(picture).greyscale().raw().toBuffer({ resolveWithObject: true });
  const scaleX = info.width / shown.width;
  const scaleY = info.height / shown.height;
  const expectedX = linesWithin(card.width, shown.left, shown.width, scaleX);
  const expectedY = linesWithin(card.height, shown.top, shown.height, scaleY);
  const row = middleOfWidestGap(expectedY, info.height);
  const column = middleOfWidestGap(expectedX, info.width);
  const brightnessAt = (x: number, y: number) => data.readUInt8((y * info.width + x) * info.channels);
  const alongX = Array.from({ length: info.width }, (_, x) => brightnessAt(x, row));
  const alongY = Array.from({ length: info.height }, (_, y) => brightnessAt(column, y));
  return Math.max(
    largestDifference(findLines(alongX), expectedX, info.width),
    largestDifference(findLines(alongY), expectedY, info.height),
  );
}

/** Distances between lines run through this sequence: 24 to 67 pixels, never twice the same in a row. */
function distanceAfter(index: number): number {
  return 24 + ((index * index * 7 + index * 5) % 44);
}

function linesUpTo(length: number): number[] {
  const lines: number[] = [];
  for (let at = distanceAfter(0); at < length; at += distanceAfter(lines.length)) lines.push(at);
  return lines;
}

/** The number of lines up to each pixel. */
function cellOfEach(length: number): number[] {
  const lines = new Set(linesUpTo(length));
  let cell = 0;
  return Array.from({ length }, (_, at) => {
    if (lines.has(at)) cell += 1;
    return cell;
  });
}

function linesWithin(cardLength: number, start: number, length: number, scale: number): number[] {
  return linesUpTo(cardLength)
    .filter((line) => line > start && line < start + length)
    .map((line) => (line - start) * scale);
}

function middleOfWidestGap(lines: number[], length: number): number {
  let previous = 0;
  let widest = { middle: 0, width: 0 };
  for (const line of [...lines, length]) {
    const width = line - previous;
    if (width > widest.width) widest = { middle: Math.floor(previous + width / 2), width };
    previous = line;
  }
  return widest.middle;
}

/** Where brightness crosses the middle between black and white, between two pixels' centres by interpolation. */
function findLines(values: number[]): number[] {
  const lines: number[] = [];
  let before = 0;
  for (const [at, value] of values.entries()) {
    const after = value - 127.5;
    if (at > 0 && before > 0 !== after > 0) lines.push(at - 0.5 + before / (before - after));
    before = after;
  }
  return lines;
}

/** Lines at the border are ignored, because they may be on either side of it. */
function largestDifference(found: number[], expected: number[], length: number): number {
  const counts = (line: number) => line > 2 && line < length - 2;
  const missing = expected.filter(counts).filter((line) => !found.some((other) => Math.abs(other - line) < 8));
  const extra = found.filter(counts).filter((line) => !expected.some((other) => Math.abs(other - line) < 8));
  if (missing.length + extra.length > 0) return Number.POSITIVE_INFINITY;
  const differences = expected.filter(counts).map((line) => Math.min(...found.map((other) => Math.abs(other - line))));
  return Math.max(0, ...differences);
}

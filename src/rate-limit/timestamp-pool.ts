import { FIELD, NONE, type Records } from './records.ts';

/**
 * First-in-first-out queues of timestamps, one for each record, in a few shared arrays. A timestamp takes 12 bytes,
 * whatever the number and length of the queues.
 */
export interface TimestampPool {
  length(record: number): number;
  push(record: number, time: number): void;
  /** The queue must not be empty. */
  oldest(record: number): number;
  /** The queue must not be empty. */
  newest(record: number): number;
  /** Drops the oldest time; the queue must not be empty. */
  shift(record: number): void;
  /** Empties the queue in constant time. */
  clear(record: number): void;
  stats(): { readonly bytes: number };
}

interface Block {
  readonly times: Float64Array;
  readonly nextCells: Int32Array;
}

const BLOCK_BITS = 14;
const CELLS_PER_BLOCK = 1 << BLOCK_BITS;
const CELL_MASK = CELLS_PER_BLOCK - 1;
const CELL_BYTES = 12;

export function createTimestampPool(records: Records): TimestampPool {
  // Blocks instead of one growing array: copying a hundred megabytes would block the event loop.
  const blocks: Block[] = [];
  let usedCells = 0;
  let firstFreeCell = NONE;

  function blockOf(cell: number): Block {
    return blocks[cell >> BLOCK_BITS] as Block;
  }

  function timeOf(cell: number): number {
    return blockOf(cell).times[cell & CELL_MASK] as number;
  }

  function nextOf(cell: number): number {
    return blockOf(cell).nextCells[cell & CELL_MASK] as number;
  }

  function link(cell: number, nextCell: number): void {
    blockOf(cell).nextCells[cell & CELL_MASK] = nextCell;
  }

  function takeCell(): number {
    if (firstFreeCell !== NONE) {
      const cell = firstFreeCell;
      firstFreeCell = nextOf(cell);
      return cell;
    }
    if (usedCells === blocks.length * CELLS_PER_BLOCK) {
      blocks.push({ times: new Float64Array(CELLS_PER_BLOCK), nextCells: new Int32Array(CELLS_PER_BLOCK) });
    }
    usedCells += 1;
    return usedCells - 1;
  }

  function length(record: number): number {
    return records.get(record, FIELD.times);
  }

  return {
    length,
    push(record, time) {
      const cell = takeCell();
      blockOf(cell).times[cell & CELL_MASK] = time;
      if (length(record) === 0) records.set(record, FIELD.firstTime, cell);
      else link(records.get(record, FIELD.lastTime), cell);
      records.set(record, FIELD.lastTime, cell);
      records.set(record, FIELD.times, length(record) + 1);
    },
    oldest: (record) => timeOf(records.get(record, FIELD.firstTime)),
    newest: (record) => timeOf(records.get(record, FIELD.lastTime)),
    shift(record) {
      const cell = records.get(record, FIELD.firstTime);
      records.set(record, FIELD.firstTime, nextOf(cell));
      records.set(record, FIELD.times, length(record) - 1);
      link(cell, firstFreeCell);
      firstFreeCell = cell;
    },
    clear(record) {
      if (length(record) === 0) return;
      link(records.get(record, FIELD.lastTime), firstFreeCell);
      firstFreeCell = records.get(record, FIELD.firstTime);
      records.set(record, FIELD.times, 0);
    },
    stats: () => ({ bytes: blocks.length * CELLS_PER_BLOCK * CELL_BYTES }),
  };
}

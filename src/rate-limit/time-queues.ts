/** One client's queue of times inside a `TimeQueues` pool. Only the pool reads or writes these positions. */
export interface TimeQueue {
  length: number;
  firstCell: number;
  lastCell: number;
}

/**
 * First-in-first-out queues of times that share a few large arrays: 12 bytes a time, however many queues there are and
 * however long each is. A million small JavaScript arrays would cost ten times that, and the collector's attention.
 */
export interface TimeQueues {
  push(queue: TimeQueue, time: number): void;
  /** The queue must not be empty. */
  oldest(queue: TimeQueue): number;
  /** The queue must not be empty. */
  newest(queue: TimeQueue): number;
  /** Drops the oldest time; the queue must not be empty. */
  shift(queue: TimeQueue): void;
  /** Empties the queue at once, whatever its length. */
  clear(queue: TimeQueue): void;
}

interface Block {
  readonly times: Float64Array;
  readonly nextCells: Int32Array;
}

const BLOCK_BITS = 14;
const CELLS_PER_BLOCK = 1 << BLOCK_BITS;
const CELL_MASK = CELLS_PER_BLOCK - 1;
/** Where an empty queue begins and ends. */
export const NO_CELL = -1;

export function createTimeQueues(): TimeQueues {
  // Blocks instead of one array that doubles: copying a hundred megabytes would stop the event loop.
  const blocks: Block[] = [];
  let usedCells = 0;
  let firstFreeCell = NO_CELL;

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
    if (firstFreeCell !== NO_CELL) {
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

  return {
    push(queue, time) {
      const cell = takeCell();
      blockOf(cell).times[cell & CELL_MASK] = time;
      if (queue.length === 0) queue.firstCell = cell;
      else link(queue.lastCell, cell);
      queue.lastCell = cell;
      queue.length += 1;
    },
    oldest: (queue) => timeOf(queue.firstCell),
    newest: (queue) => timeOf(queue.lastCell),
    shift(queue) {
      const cell = queue.firstCell;
      queue.firstCell = nextOf(cell);
      queue.length -= 1;
      link(cell, firstFreeCell);
      firstFreeCell = cell;
    },
    clear(queue) {
      if (queue.length === 0) return;
      link(queue.lastCell, firstFreeCell);
      firstFreeCell = queue.firstCell;
      queue.length = 0;
    },
  };
}

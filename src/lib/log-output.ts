import { constants, openSync } from 'node:fs';
import { pino } from 'pino';

/** The bound of lines that wait for their reader, or for room on the disk. Further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** A system call for each line, or for those of one turn of the event loop, would cost as much as a response. */
const COLLECT_MS = 10;

/** Longer output is written at once. */
const MAX_COLLECTED_CHARACTERS = 16 * 1024;

/** How long the end of the process waits for the reader. */
const MAX_EXIT_WAIT_MS = 500;
const EXIT_RETRY_MS = 10;

/**
 * Standard output, for lines of a log. It never waits for its reader: what the reader of a pipe or a terminal has not taken,
 * or what a full disk has no room for, waits in memory, up to a bound. Lines beyond it are dropped, and one line says how
 * many.
 *
 * The lines of ten milliseconds are written together. A process that is killed loses those.
 */
export interface LogOutput {
  write(line: string): void;
  droppedLines(): number;
}

/** @param format of each line. Default: unchanged */
export function openLogOutput(format = (line: string) => line): LogOutput {
  let collected = '';
  /** The latest write failed. */
  let hasFailed = false;
  let isReaderSlow = false;
  let droppedLines = 0;
  let reportedLines = 0;
  let timer: NodeJS.Timeout | undefined;

  const output = pino.destination({
    // Node makes pipes and sockets non-blocking when it creates `process.stdout`. A thread for writing would not
    // help: the process cannot end before its blocked write ends.
    dest: process.stdout.isTTY ? openTerminal() : process.stdout.fd,
    sync: true,
    maxLength: MAX_UNWRITTEN_BYTES,
    retryEAGAIN() {
      isReaderSlow = true;
      return false;
    },
  });
  // Without a listener, pino ends the process when a log file's disk is full.
  output.on('error', () => {
    hasFailed = true;
  });
  output.on('drop', (lines: string) => {
    droppedLines += lines.split('\n').length - 1;
  });
  const reporter = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  process.on('exit', flushAtExit);

  function write(line: string): void {
    collected += format(line);
    if (collected.length > MAX_COLLECTED_CHARACTERS) flush();
    else flushLater();
  }

  function flushLater(): void {
    timer ??= setTimeout(flush, COLLECT_MS).unref();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = collected;
    collected = '';
    hasFailed = false;
    isReaderSlow = false;
    const droppedBefore = droppedLines;
    output.write(lines);
    const isDropped = droppedLines > droppedBefore;
    // A write that is dropped does not write what waits. An empty write does.
    if (isDropped) output.write('');
    if (isReaderSlow) flushLater();
    // Part of it may have been written. The next write tries the rest.
    else if (!hasFailed) reportDropped();
  }

  function reportDropped(): void {
    if (droppedLines === reportedLines) return;
    const dropped = droppedLines - reportedLines;
    reportedLines = droppedLines;
    reporter.warn({ dropped }, 'log lines were dropped: they could not be written in time');
  }

  function flushAtExit(): void {
    const deadline = performance.now() + MAX_EXIT_WAIT_MS;
    flush();
    while ((isReaderSlow || collected !== '') && performance.now() < deadline) {
      if (isReaderSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_MS);
      flush();
    }
  }

  return {
    write,
    droppedLines: () => droppedLines,
  };
}

/** The terminal of standard output, opened again because Node makes terminals blocking: Ctrl-S would stop the service. */
function openTerminal(): number {
  try {
    return openSync('/dev/stdout', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Another user's terminal, or no such file on this system.
    return process.stdout.fd;
  }
}

/** One text that outlives the process; instances of a fleet share it. A broken store is a text that is not there. */
export interface KeptText {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

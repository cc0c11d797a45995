/** A stop sequence in a text, and its position. */
export interface FoundStop {
  readonly at: number;
  readonly sequence: string;
}

/** Returns the first of the stop sequences in a text, or `null`. Empty sequences are ignored. */
export function findFirstStop(text: string, sequences: readonly string[]): FoundStop | null {
  let first: FoundStop | null = null;
  for (const sequence of sequences) {
    const at = sequence === "" ? -1 : text.indexOf(sequence);
    if (at !== -1 && (first === null || at < first.at)) first = { at, sequence };
  }
  return first;
}

/** The part of an output stream that a {@link ProgressLine} uses. */
export interface Terminal {
  /** Whether a person reads the stream. */
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** A line on a terminal that shows what a command waits for. Prints nothing if the output is piped. */
export class ProgressLine {
  readonly #terminal: Terminal;
  #isShown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows a text until it is replaced or cleared. */
  show(text: string): void {
    if (!this.#terminal.isTTY) return;
    this.#terminal.write(`${CLEAR}${text}`);
    this.#isShown = true;
  }

  /** Removes the text, before the command prints a line. */
  clear(): void {
    if (this.#isShown) this.#terminal.write(CLEAR);
    this.#isShown = false;
  }
}

/** Moves to the start of the line and deletes it. */
const CLEAR = "\r\u001b[K";

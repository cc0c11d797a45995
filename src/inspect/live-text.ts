/** The end of the text of a turn that is still arriving, for readers that come later. */
export class LiveText {
  #turn = 0;
  #text = "";

  /** Adds text of a turn; `null` means that the turn is complete or sent again. */
  add(turn: number, delta: string | null): void {
    const before = turn === this.#turn ? this.#text : "";
    this.#turn = turn;
    this.#text = delta === null ? "" : `${before}${delta}`.slice(-MAX_LENGTH);
  }

  /** Passes the text to a reader, if there is any. */
  replay(onText: (turn: number, delta: string | null) => void): void {
    if (this.#text !== "") onText(this.#turn, this.#text);
  }

  /** Forgets the text. */
  clear(): void {
    this.#text = "";
  }
}

/** The page shows only the end of the text. */
const MAX_LENGTH = 1_000;

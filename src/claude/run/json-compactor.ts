const WHITE_SPACE = " \t\r\n";

/** Removes the white space between the tokens of JSON that arrives in pieces. */
export class JsonCompactor {
  #isInString = false;
  #isEscaped = false;

  /** Takes the next piece, and returns it without white space outside of strings. */
  add(piece: string): string {
    let compact = "";
    for (const char of piece) {
      if (this.#isInString || !WHITE_SPACE.includes(char)) compact += char;
      if (char === '"' && !this.#isEscaped) this.#isInString = !this.#isInString;
      this.#isEscaped = char === "\\" && !this.#isEscaped;
    }
    return compact;
  }
}

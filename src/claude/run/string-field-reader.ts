/** Reads the text of one string field of a JSON object that arrives in pieces. */
export class StringFieldReader {
  readonly #field: string;
  #depth = 0;
  #isInString = false;
  /** Whether the next string at the top level is a key. */
  #isKeyNext = false;
  #key = "";
  /** The escape sequence that has begun, such as `\u00`. */
  #escape = "";

  constructor(field: string) {
    this.#field = field;
  }

  /** Takes the next piece of the object, and returns the new text of the field. */
  add(piece: string): string {
    let text = "";
    for (const char of piece)
      text += this.#isInString ? this.#readString(char) : this.#readToken(char);
    return text;
  }

  #readToken(char: string): string {
    if (char === '"') {
      this.#isInString = true;
      if (this.#isKeyNext) this.#key = "";
    } else if (char === "{" || char === "[") {
      this.#depth += 1;
      this.#isKeyNext = this.#depth === 1;
    } else if (char === "}" || char === "]") {
      this.#depth -= 1;
      this.#isKeyNext = false;
    } else if (char === ",") this.#isKeyNext = this.#depth === 1;
    else if (char === ":") this.#isKeyNext = false;
    return "";
  }

  #readString(char: string): string {
    if (this.#escape !== "" || char === "\\") {
      this.#escape += char;
      const decoded = decodeEscape(this.#escape);
      if (decoded === null) return "";
      this.#escape = "";
      return this.#addText(decoded);
    }
    if (char !== '"') return this.#addText(char);
    this.#isInString = false;
    return "";
  }

  /** Adds text to the key, or returns it if it belongs to the field. */
  #addText(text: string): string {
    if (this.#isKeyNext) this.#key += text;
    return this.#depth === 1 && !this.#isKeyNext && this.#key === this.#field ? text : "";
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** Decodes an escape sequence; `null` if it is not complete. */
function decodeEscape(sequence: string): string | null {
  const [, kind] = sequence;
  if (kind === undefined || (kind === "u" && sequence.length < 6)) return null;
  if (kind === "u") return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
  return ESCAPES.get(kind) ?? kind;
}

/** Gathers a page's words into lines: one for each block, with spaces as they would be seen. */
export class HtmlText {
  readonly #lines: string[] = [];
  #line: string[] = [];
  #endsInSpace = true;
  #preformatted = 0;
  #heading: string[] | null = null;
  #firstHeading: string | null = null;

  /** The first heading that says something. */
  get heading(): string | null {
    return this.#firstHeading;
  }

  /** Words between tags, references already read. */
  add(text: string): void {
    if (this.#preformatted > 0) this.addAsIs(text);
    else this.#addSpaced(text);
  }

  /** Text whose spaces and lines count. */
  addAsIs(text: string): void {
    const [first = "", ...others] = text.split(/\r\n|\r|\n/);
    this.#push(first);
    for (const line of others) {
      this.#break();
      this.#push(line);
    }
    this.#endsInSpace = false;
  }

  /** A tag, which may end a line or a cell. */
  meet(name: string, side: "start" | "end"): void {
    if (name === "td" || name === "th") this.add(" ");
    if (!blocks.has(name)) return;
    if (name === "pre" && side === "end") this.#preformatted = Math.max(0, this.#preformatted - 1);
    this.#break();
    if (name === "pre" && side === "start") this.#preformatted += 1;
    if (/^h[1-6]$/.test(name)) this.#meetHeading(side);
  }

  /** All of it. Between two paragraphs there is at most one empty line. */
  finish(): string {
    this.#break();
    this.#meetHeading("end");
    const isKept = (line: string, index: number) => line !== "" || this.#lines[index - 1] !== "";
    return this.#lines.filter(isKept).join("\n").trim();
  }

  #addSpaced(text: string): void {
    let words = text.replaceAll(/[ \t\r\n\f]+/g, " ");
    if (this.#endsInSpace && words.startsWith(" ")) words = words.slice(1);
    if (words === "") return;
    this.#push(words);
    this.#endsInSpace = words.endsWith(" ");
  }

  #push(words: string): void {
    this.#line.push(words);
    this.#heading?.push(words);
  }

  #break(): void {
    if (this.#line.length === 0 && this.#preformatted === 0) return;
    this.#lines.push(this.#line.join("").trimEnd());
    this.#line = [];
    this.#endsInSpace = true;
  }

  #meetHeading(side: "start" | "end"): void {
    const said = this.#heading?.join("").trim() ?? "";
    if (said !== "") this.#firstHeading ??= said;
    this.#heading = side === "start" && this.#firstHeading === null ? [] : null;
  }
}

/** Elements that stand on lines of their own, and `br`. */
const blocks: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd"],
  ...["details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure"],
  ...["footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html"],
  ...["legend", "li", "main", "menu", "nav", "ol", "option", "p", "plaintext", "pre", "section"],
  ...["select", "summary", "table", "tbody", "textarea", "tfoot", "thead", "tr", "ul", "xmp"],
]);

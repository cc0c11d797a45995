/** Collects the text of a page: one line per block, with white space collapsed as browsers do. */
export class HtmlText {
  readonly #lines: string[] = [];
  #line: string[] = [];
  #endsInSpace = true;
  /** How many preformatted elements are open. */
  #preformatted = 0;
  /** The text of the open heading; `null` outside of one, or if the page already has a heading. */
  #openHeading: string[] | null = null;
  #heading: string | null = null;

  /** The first heading with text. */
  get heading(): string | null {
    return this.#heading;
  }

  /** Adds text between tags, with its character references decoded. */
  add(text: string): void {
    if (this.#preformatted > 0) this.#addPreformatted(text);
    else this.#addCollapsed(text);
  }

  /** Handles the start of an element, which may end a line or a cell. */
  start(name: string): void {
    if (cells.has(name)) this.add(" ");
    if (!blocks.has(name)) return;
    this.#breakLine();
    if (preformatted.has(name)) this.#preformatted += 1;
    if (!headings.has(name)) return;
    this.#closeHeading();
    if (this.#heading === null) this.#openHeading = [];
  }

  /** Handles the end of an element, which may end a line or a cell. */
  end(name: string): void {
    if (cells.has(name)) this.add(" ");
    if (!blocks.has(name)) return;
    if (preformatted.has(name)) this.#preformatted -= 1;
    this.#breakLine();
    if (headings.has(name)) this.#closeHeading();
  }

  /** Returns the whole text, with at most one empty line in a row. */
  finish(): string {
    this.#breakLine();
    this.#closeHeading();
    const isKept = (line: string, index: number) => line !== "" || this.#lines[index - 1] !== "";
    return this.#lines.filter(isKept).join("\n").trim();
  }

  #addPreformatted(text: string): void {
    const [first = "", ...others] = text.split("\n");
    this.#push(first);
    for (const line of others) {
      this.#breakLine();
      this.#push(line);
    }
    this.#endsInSpace = false;
  }

  #addCollapsed(text: string): void {
    let words = text.replaceAll(/[ \t\r\n\f]+/g, " ");
    if (this.#endsInSpace && words.startsWith(" ")) words = words.slice(1);
    if (words === "") return;
    this.#push(words);
    this.#endsInSpace = words.endsWith(" ");
  }

  #push(words: string): void {
    this.#line.push(words);
    this.#openHeading?.push(words);
  }

  #breakLine(): void {
    if (this.#line.length === 0 && this.#preformatted === 0) return;
    this.#lines.push(this.#line.join("").trimEnd());
    this.#line = [];
    this.#endsInSpace = true;
  }

  #closeHeading(): void {
    this.#heading ??= this.#openHeading?.join("").trim() || null;
    this.#openHeading = null;
  }
}

const cells: ReadonlySet<string> = new Set(["td", "th"]);
const headings: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const preformatted: ReadonlySet<string> = new Set(["listing", "plaintext", "pre", "xmp"]);

/** Elements displayed on separate lines, and `br`. */
const blocks: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd"],
  ...["details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure"],
  ...["footer", "form", "head", "header", "hr", "html", "legend", "li", "main", "menu", "nav"],
  ...["ol", "option", "p", "section", "select", "summary", "table", "tbody", "textarea", "tfoot"],
  ...["thead", "tr", "ul", ...headings, ...preformatted],
]);

import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  html,
  type TreeAdapter,
} from "parse5";
import { BoundedParser } from "./bounded-parser.ts";
import { HtmlText } from "./html-text.ts";

/** The text of a page and the metadata it declares. */
export interface HtmlPage {
  /** Without tags, scripts and styles; each block on its own line. */
  readonly text: string;
  readonly title: string | null;
  /** The first heading with text. */
  readonly heading: string | null;
  /** `<link rel="canonical">`, as written. */
  readonly canonical: string | null;
  /** `<base href>`, as written. */
  readonly base: string | null;
}

/**
 * Reads a page as browsers do with scripting disabled. Accepts any input. Time is linear in its length,
 * and memory does not depend on its nesting.
 */
export function readHtml(source: string): HtmlPage {
  const reader = new PageReader();
  BoundedParser.parse(source, { scriptingEnabled: false, treeAdapter: createAdapter(reader) });
  return reader.finish();
}

type Element = DefaultTreeAdapterTypes.Element;

/** Reports elements and text in source order instead of building a tree. */
function createAdapter(reader: PageReader): TreeAdapter<DefaultTreeAdapterMap> {
  return {
    ...defaultTreeAdapter,
    createElement(name, namespace, attributes) {
      const element = defaultTreeAdapter.createElement(name, namespace, attributes);
      reader.start(element);
      return element;
    },
    onItemPush: (element) => reader.open(element),
    onItemPop: (element) => reader.close(element),
    insertText: (_parent, text) => reader.add(text),
    insertTextBefore: (_parent, text) => reader.add(text),
    // The parser reads the parent of a table, but never children.
    appendChild: setParent,
    insertBefore: setParent,
    adoptAttributes: () => undefined,
  };
}

function setParent(
  parent: DefaultTreeAdapterTypes.ParentNode,
  node: DefaultTreeAdapterTypes.ChildNode,
): void {
  node.parentNode = parent;
}

/** The parser reports each word and each space. This many are joined at once, to save memory. */
const RUN_LENGTH = 4096;

class PageReader {
  readonly #text = new HtmlText();
  readonly #openHidden = new Set<Element>();
  /** Every open element, outermost first. */
  readonly #open: Element[] = [];
  /** Elements whose end tag came before that of an inner element. Only forms can do that. */
  readonly #closedEarly = new Set<Element>();
  #run: string[] = [];
  /** The text of the open `title`; `null` outside of one. */
  #openTitle: string[] | null = null;
  #title: string | null = null;
  #canonical: string | null = null;
  #base: string | null = null;

  /** Called for every element, including elements implied by the parser. */
  start({ tagName, attrs, namespaceURI }: Element): void {
    if (this.#openHidden.size > 0 || namespaceURI !== html.NS.HTML) return;
    this.#flush();
    if (tagName === "title") this.#openTitle = [];
    else if (tagName === "base") this.#base ??= getAttribute(attrs, "href");
    else if (tagName === "link" && isCanonical(attrs)) {
      this.#canonical ??= getAttribute(attrs, "href");
    }
    this.#text.start(tagName);
  }

  /** Called for every element that can have content. */
  open(element: Element): void {
    this.#open.push(element);
    if (isHidden(element)) this.#openHidden.add(element);
  }

  add(text: string): void {
    if (this.#openHidden.size === 0 && this.#run.push(text) >= RUN_LENGTH) this.#flush();
  }

  /** Called for every open element, except elements still open at the end of the page. */
  close(element: Element): void {
    if (this.#open.at(-1) !== element) {
      this.#closedEarly.add(element); // it ends with its still open inner elements, as in a browser
      return;
    }
    this.#open.pop();
    this.#end(element);
    const outer = this.#open.at(-1);
    if (outer && this.#closedEarly.delete(outer)) this.close(outer);
  }

  #end(element: Element): void {
    const isInHidden = !this.#openHidden.delete(element) && this.#openHidden.size > 0;
    if (isInHidden || element.namespaceURI !== html.NS.HTML) return;
    this.#flush();
    if (element.tagName !== "br") this.#text.end(element.tagName); // `</br>` is read as `<br>`
    if (element.tagName !== "title" || this.#openTitle === null) return;
    this.#title ??= this.#openTitle.join("").replaceAll(/\s+/g, " ").trim() || null;
    this.#openTitle = null;
  }

  finish(): HtmlPage {
    this.#flush();
    const text = this.#text.finish();
    const { heading } = this.#text;
    return { text, title: this.#title, heading, canonical: this.#canonical, base: this.#base };
  }

  #flush(): void {
    if (this.#run.length === 0) return;
    const text = this.#run.join("");
    this.#run = [];
    if (this.#openTitle === null) this.#text.add(text);
    else this.#openTitle.push(text);
  }
}

/** Whether browsers do not show the content of an element. An SVG `title` is a tooltip. */
function isHidden({ tagName, namespaceURI }: Element): boolean {
  return hiddenNames.has(tagName) || (tagName === "title" && namespaceURI !== html.NS.HTML);
}

const hiddenNames: ReadonlySet<string> = new Set([
  ...["script", "style", "template", "iframe", "noembed", "noframes"],
]);

function isCanonical(attributes: Element["attrs"]): boolean {
  return getAttribute(attributes, "rel")?.toLowerCase().split(/\s/).includes("canonical") ?? false;
}

function getAttribute(attributes: Element["attrs"], wanted: string): string | null {
  return attributes.find(({ name }) => name === wanted)?.value.trim() ?? null;
}

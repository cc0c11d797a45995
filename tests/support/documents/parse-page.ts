/** A Markdown file of the repository, with the parts that are checked. Line numbers start at 1. */
export interface Page {
  /** Path from the root of the repository, with slashes. */
  readonly path: string;
  readonly fences: readonly Fence[];
  readonly links: readonly PageLink[];
  /** Inline code, outside of fences. */
  readonly inlineCode: readonly TextAt[];
  /** The names for `#…`: headings as GitHub writes them, and `id` attributes. */
  readonly anchors: ReadonlySet<string>;
  /** Labels of links such as `[text][label]` that have no definition. */
  readonly undefinedLabels: readonly TextAt[];
}

export interface TextAt {
  readonly text: string;
  readonly line: number;
}

/** A fenced code block. */
export interface Fence extends TextAt {
  /** The first word after the opening fence, or "" without one. */
  readonly language: string;
  readonly isClosed: boolean;
}

/** The target of a link, an image or an autolink. */
export interface PageLink {
  readonly target: string;
  readonly line: number;
}

/** Parses the parts of Markdown that this repository uses. */
export function parsePage(path: string, text: string): Page {
  const { fences, rest } = cutFences(text);
  const withoutComments = rest.replaceAll(/<!--[\s\S]*?-->/g, blank);
  const { inlineCode, prose } = cutInlineCode(withoutComments);
  return {
    path,
    fences,
    inlineCode,
    links: findLinks(prose),
    anchors: findAnchors(withoutComments),
    undefinedLabels: findUndefinedLabels(prose),
  };
}

/** Replaces each character by a space, so that offsets and lines stay the same. */
const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

const findLine = (text: string, index: number): number => text.slice(0, index).split("\n").length;

function cutFences(text: string): { readonly fences: readonly Fence[]; readonly rest: string } {
  const fences: Fence[] = [];
  const rest: string[] = [];
  let open: { marker: string; indent: number; language: string; line: number } | undefined;
  let body: string[] = [];
  const close = (isClosed: boolean) => {
    if (open) {
      const { language, line } = open;
      fences.push({ language, line, isClosed, text: body.map((row) => `${row}\n`).join("") });
    }
    open = undefined;
    body = [];
  };
  for (const [index, row] of text.split("\n").entries()) {
    const [, indent = "", marker = "", info = ""] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(row) ?? [];
    if (open) {
      if (marker.startsWith(open.marker) && info.trim() === "") close(true);
      else body.push(row.slice(Math.min(open.indent, row.search(/\S|$/))));
      rest.push("");
    } else if (marker && !info.includes("`")) {
      const [language = ""] = info.trim().split(/\s+/);
      open = { marker, indent: indent.length, language, line: index + 1 };
      rest.push("");
    } else rest.push(row);
  }
  close(false);
  return { fences, rest: rest.join("\n") };
}

/** Finds code spans and fills them with a letter, so that a link whose text is code is still a link. */
function cutInlineCode(text: string): {
  readonly inlineCode: readonly TextAt[];
  readonly prose: string;
} {
  const inlineCode: TextAt[] = [];
  const span = /(?<![`\\])(`+)(?!`)((?:(?!\n\s*\n)[\s\S])*?)(?<!`)\1(?!`)/g;
  const prose = text.replaceAll(span, (whole, _ticks, code: string, index: number) => {
    const line = findLine(text, index);
    inlineCode.push({ text: code.replaceAll(/\s+/g, " ").trim(), line });
    return whole.replaceAll(/[^\n]/g, "x");
  });
  return { inlineCode, prose };
}

const INLINE_LINK = /\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/g;
const DEFINITION = /^ {0,3}\[([^\]]+)\]:\s*<?(\S+?)>?(?:\s+"[^"]*")?\s*$/gm;
const AUTOLINK = /<(https?:[^\s<>]*)>/g;
const ATTRIBUTE = /\b(?:href|src)="([^"]*)"/g;

function findLinks(prose: string): readonly PageLink[] {
  const found = [INLINE_LINK, AUTOLINK, ATTRIBUTE].flatMap((pattern) =>
    [...prose.matchAll(pattern)].map(({ 1: target = "", index }) => ({ target, index })),
  );
  const defined = [...prose.matchAll(DEFINITION)].map(({ 2: target = "", index }) => ({
    target,
    index,
  }));
  return [...found, ...defined]
    .sort((one, other) => one.index - other.index)
    .map(({ target, index }) => ({ target, line: findLine(prose, index) }));
}

function findUndefinedLabels(prose: string): readonly TextAt[] {
  const labels = new Set([...prose.matchAll(DEFINITION)].map(([, label = ""]) => label));
  return [...prose.matchAll(/\]\[([^\]\n]+)\]/g)]
    .filter(({ 1: label = "" }) => !labels.has(label))
    .map(({ 1: text = "", index }) => ({ text, line: findLine(prose, index) }));
}

function findAnchors(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const used = new Map<string, number>();
  for (const [, heading = ""] of text.matchAll(/^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/gm)) {
    const slug = toSlug(heading);
    let anchor = slug;
    while (anchors.has(anchor)) {
      const count = (used.get(slug) ?? 0) + 1;
      used.set(slug, count);
      anchor = `${slug}-${count}`;
    }
    anchors.add(anchor);
  }
  for (const [, id = ""] of text.matchAll(/<\w+[^>]*\s(?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Converts a heading to its anchor, as GitHub does. */
export function toSlug(heading: string): string {
  const text = heading
    .replaceAll(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replaceAll(/<[^>`]+>(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)/g, "")
    .replaceAll("`", "")
    .replaceAll(/(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, "");
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

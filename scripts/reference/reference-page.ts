/** A page of docs/reference. */
export interface ReferencePage {
  readonly name: string;
  /** The contents of the entry point, in one sentence. */
  readonly summary: string;
  readonly text: string;
}

/** An entry point: TypeDoc's name for it, TypeDoc's page, and its source. */
export interface EntryPoint {
  readonly module: string;
  readonly markdown: string;
  readonly source: string;
}

/** Converts a page of TypeDoc: with the name and the summary of the entry point, and links to the renamed pages. */
export function toReferencePage({ module, markdown, source }: EntryPoint): ReferencePage {
  const specifier = toSpecifier(module);
  const summary = readSummary(source);
  const heading = `# ${specifier}\n\n${summary}\n\n\`import { … } from "${specifier}"\`\n`;
  const text = markdown
    .replace(/^# .*\n/, heading)
    .replaceAll("](index.md", "](weakincentives.md")
    .replaceAll(/^\| <a id="[^"]*"><\/a> `~.*\n/gm, "") // carry types, and are never set
    .replaceAll(/^#+ Default\n\n```ts\n([\s\S]*?)\n```$/gm, "**Default:** $1") // prose, not a program
    .replaceAll(/[ \t]+$/gm, "")
    .trimEnd();
  const name = `${module === "index" ? "weakincentives" : module}.md`;
  return { name, summary, text: `${NOTE}\n\n${text}\n` };
}

const NOTE = "<!-- Written by npm run reference from the doc comments in src. Do not edit. -->";

/** Returns the first sentence of the comment at the top of an entry point. */
function readSummary(source: string): string {
  const [, comment = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  const [first = ""] = comment
    .replaceAll(/^\s*\* ?/gm, "")
    .trim()
    .split("\n\n");
  if (first === "") throw new Error("The entry point has no comment that describes it.");
  return first.replaceAll("\n", " ");
}

/**
 * Corrects links to headings that TypeDoc numbers and GitHub does not: `#sandboxprobe-1` where the page has a
 * single heading of that name.
 */
export function repairAnchors(pages: readonly ReferencePage[]): readonly ReferencePage[] {
  const anchors = new Map(pages.map(({ name, text }) => [name, findAnchors(text)]));
  return pages.map((page) => {
    const repair = (link: string, path: string, anchor: string, number: string) => {
      const there = anchors.get(path || page.name);
      return there?.has(anchor + number) || !there?.has(anchor) ? link : `](${path}#${anchor})`;
    };
    return { ...page, text: page.text.replaceAll(/\]\(([\w.-]*)#([\w-]+?)(-\d+)\)/g, repair) };
  });
}

/** The anchors of a page's headings, as GitHub names them. */
function findAnchors(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  const anchors = headings.map((heading) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

/** Creates the page that lists the others. */
export function createReferenceIndex(pages: readonly ReferencePage[]): ReferencePage {
  const summary =
    "Every public name, with its members, defaults and errors: one page per entry point.";
  const rows = pages.map(({ name, summary: about, text }) => {
    const specifier = toSpecifier(name.replace(/\.md$/, ""));
    const count = [...text.matchAll(/^### /gm)].length;
    return `| [${specifier}](${name}) | ${count} | ${about} |`;
  });
  const lines = [
    ...[NOTE, "", "# Reference", "", summary],
    "For how to use them, start with [the guides](../../README.md#guides).",
    ...["", "| entry point | names | contents |", "| --- | --- | --- |"],
    ...rows.sort(),
  ];
  return { name: "README.md", summary, text: `${lines.join("\n")}\n` };
}

function toSpecifier(module: string): string {
  const isRoot = module === "index" || module === "weakincentives";
  return isRoot ? "weakincentives" : `weakincentives/${module}`;
}

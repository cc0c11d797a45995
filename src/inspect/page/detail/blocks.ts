import { type ComponentChild, h } from "preact";
import { isPlainObject } from "../../../base/freeze.ts";
import { readString, type UnknownRecord } from "../../../base/json.ts";
import { escapeInvisible } from "../../model/preview.ts";
import { splitCitations } from "../../view/split-citations.ts";

/** Renders a part of the details with a heading; nothing if it is empty. */
export function renderBlock(title: string, ...content: ComponentChild[]): ComponentChild {
  if (content.every((one) => one === null || one === false || one === "")) return null;
  return h("section", { class: "block" }, h("h3", null, title), ...content);
}

/** Renders names with values. Empty values are omitted, and characters that a reader cannot see are escaped. */
export function renderFacts(facts: readonly (readonly [string, ComponentChild])[]): ComponentChild {
  const shown = facts.filter(([, value]) => value !== null && value !== "" && value !== undefined);
  if (shown.length === 0) return null;
  return h(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) =>
      h(
        "div",
        { key: name },
        h("dt", null, escapeInvisible(name)),
        h("dd", null, escapeText(value)),
      ),
    ),
  );
}

function escapeText(value: ComponentChild): ComponentChild {
  return typeof value === "string" ? escapeInvisible(value) : value;
}

/** Renders text as it is, in one block. */
export function renderText(text: string, className = "prose"): ComponentChild {
  return text === "" ? null : h("pre", { class: className }, escapeInvisible(text));
}

/** Renders a text with its citations marked, and the list of citations. */
export function renderCited(text: string, citations: readonly UnknownRecord[]): ComponentChild {
  if (text === "") return null;
  const parts = splitCitations(text, citations);
  return h("div", { class: "cited" }, [
    h(
      "pre",
      { class: "prose" },
      parts.map(({ text: part, citation }) =>
        citation === null
          ? escapeInvisible(part)
          : h("mark", { title: describeCitation(citations[citation]) }, [
              escapeInvisible(part),
              h("sup", null, `${citation + 1}`),
            ]),
      ),
    ),
    citations.length > 0 &&
      h(
        "ol",
        { class: "citations", "aria-label": "Citations" },
        citations.map((one) => h("li", null, describeCitation(one))),
      ),
  ]);
}

/** Citations are shown as text: a link could lead anywhere. */
function describeCitation(citation: UnknownRecord | undefined): string {
  if (!citation) return "";
  const parts = [
    readString(citation, "title"),
    readString(citation, "url"),
    readString(citation, "filename"),
    readString(citation, "containerId"),
  ];
  return escapeInvisible(parts.filter((part) => part !== "").join(" – "));
}

/** Renders the lines of a diff, in the formats of git and of patches that models write. */
export function renderDiff(diff: string): ComponentChild {
  const lines = diff.replace(/\n$/, "").split("\n").slice(0, MAX_LINES);
  return h(
    "pre",
    { class: "diff" },
    lines.map((line) =>
      h("span", { class: `line ${getLineClass(line)}` }, `${escapeInvisible(line)}\n`),
    ),
  );
}

const MAX_LINES = 5_000;

function getLineClass(line: string): string {
  if (/^(?:@@|\*\*\*|---|\+\+\+|diff )/.test(line)) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}

/** Returns a field of an unknown value. */
export function getField(value: unknown, name: string): unknown {
  return isPlainObject(value) ? value[name] : undefined;
}

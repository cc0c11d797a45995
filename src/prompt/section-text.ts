import { PromptRenderError } from "../base/errors.ts";
import { list, show } from "../base/show.ts";
import type { Tool } from "../tools/tool.ts";
import { exampleLines } from "./example-lines.ts";
import type { BoundParams, Placed } from "./outline.ts";
import { hasTools } from "./outline.ts";
import { attempt, paramsOf, type Shown } from "./shown-sections.ts";
import { fillTemplate, type TemplateText } from "./template-text.ts";

export interface TextContext {
  readonly params: BoundParams;
  /** Texts that stand in for a section's own, by path. */
  readonly bodies: ReadonlyMap<string, TemplateText>;
  toolsOf(placed: Placed): readonly Tool[];
}

/** Sections one below the other; one that says nothing and has nothing below it is left out. */
export function sectionsText(shown: readonly Shown[], context: TextContext): string {
  return shown
    .flatMap(
      (one) =>
        (one.as === "full" ? fullText(one, shown, context) : summaryText(one, context)) ?? [],
    )
    .join("\n\n");
}

function fullText({ placed }: Shown, all: readonly Shown[], context: TextContext): string | null {
  const body = bodyOf(placed, context);
  const examples = attempt(placed, "the examples of its tools failed", () => {
    const tools = context.toolsOf(placed);
    return tools.some((tool) => tool.examples.length > 0) ? exampleLines(tools) : "";
  });
  const isParent = all.some((other) => other.placed.parent === placed);
  if (body === "" && examples === "" && !isParent) return null;
  return [headingOf(placed), body, examples].filter((part) => part !== "").join("\n\n");
}

function summaryText({ placed }: Shown, { params }: TextContext): string {
  const { section, path } = placed;
  const summary = section.renderSummary(paramsOf(placed, params));
  const children = section.children.map(({ key }) => key);
  const inside = children.length > 0 ? ` It contains ${list(children)}.` : "";
  const how = attempt(placed, "its tools failed", () => hasTools(placed))
    ? `call open_sections with the key "${path}" to see it in full and to use its tools`
    : `call read_section with the key "${path}" to read it in full`;
  const note = `[This is a summary: ${how}.${inside}]`;
  return [headingOf(placed), summary, `---\n${note}`].filter((part) => part !== "").join("\n\n");
}

function bodyOf(placed: Placed, { params, bodies }: TextContext): string {
  const { section, depth, number, path } = placed;
  const own = paramsOf(placed, params);
  const override = bodies.get(path);
  if (override) return fillTemplate(override, own);
  const body = attempt(placed, "its render failed", () => section.render(own, depth, number));
  if (typeof body === "string") return body;
  throw new PromptRenderError(path, `its render returned ${show(body)}: it must return text`);
}

function headingOf({ section, depth, number, path }: Placed): string {
  return `${"#".repeat(depth + 2)} ${number}. ${section.title} (${path})`;
}

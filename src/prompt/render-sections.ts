import { PromptRenderError } from "../base/errors.ts";
import { quoteNames, quoteValue } from "../base/quote-value.ts";
import type { Tool } from "../tools/tool.ts";
import { getSectionParams, runSectionCode, type VisibleSection } from "./list-visible-sections.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
import { hasTools } from "./outline.ts";
import { renderExamples } from "./render-examples.ts";
import { fillTemplate, type TemplateText } from "./template-text.ts";

export interface TextContext {
  readonly params: BoundParams;
  /** Overridden section texts, by path. */
  readonly bodies: ReadonlyMap<string, TemplateText>;
  listTools(placed: PlacedSection): readonly Tool[];
}

/** Joins the visible sections. A section without text and children is omitted. */
export function renderSections(visible: readonly VisibleSection[], context: TextContext): string {
  return visible
    .flatMap(
      (one) =>
        (one.visibility === "full"
          ? renderFullSection(one, visible, context)
          : renderSummary(one, context)) ?? [],
    )
    .join("\n\n");
}

function renderFullSection(
  { placed }: VisibleSection,
  all: readonly VisibleSection[],
  context: TextContext,
): string | null {
  const body = renderBody(placed, context);
  const examples = runSectionCode(placed, "the examples of its tools could not be rendered", () => {
    const tools = context.listTools(placed);
    return tools.some((tool) => tool.examples.length > 0) ? renderExamples(tools) : "";
  });
  const isParent = all.some((other) => other.placed.parent === placed);
  if (body === "" && examples === "" && !isParent) return null;
  return [renderHeading(placed), body, examples].filter((part) => part !== "").join("\n\n");
}

function renderSummary({ placed }: VisibleSection, { params }: TextContext): string {
  const { section, path } = placed;
  const summary = section.renderSummary(getSectionParams(placed, params));
  const children = section.children.map(({ key }) => key);
  const inside = children.length > 0 ? ` It contains ${quoteNames(children)}.` : "";
  const how = runSectionCode(placed, "its tools() threw", () => hasTools(placed))
    ? `call open_sections with the key "${path}" to see it in full and to use its tools`
    : `call read_section with the key "${path}" to read it in full`;
  const note = `[This is a summary: ${how}.${inside}]`;
  return [renderHeading(placed), summary, `---\n${note}`]
    .filter((part) => part !== "")
    .join("\n\n");
}

function renderBody(placed: PlacedSection, { params, bodies }: TextContext): string {
  const { section, depth, number, path } = placed;
  const own = getSectionParams(placed, params);
  const override = bodies.get(path);
  if (override) return fillTemplate(override, own);
  const body = runSectionCode(placed, "its render() threw", () =>
    section.render(own, depth, number),
  );
  if (typeof body === "string") return body;
  throw new PromptRenderError(path, `its render() must return a string, got ${quoteValue(body)}`);
}

function renderHeading({ section, depth, number, path }: PlacedSection): string {
  return `${"#".repeat(depth + 2)} ${number}. ${section.title} (${path})`;
}

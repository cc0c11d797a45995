import { getErrorMessage, PromptRenderError } from "../base/errors.ts";
import { quoteNames, quoteValue } from "../base/quote-value.ts";
import type { Session } from "../session/session.ts";
import type { Tool } from "../tools/tool.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
import { hasTools } from "./outline.ts";
import { renderExamples } from "./render-examples.ts";
import { fillTemplate, type TemplateText } from "./template-text.ts";
import { type Visibility, visibilitySlice } from "./visibility.ts";

/** A section that is part of the prompt, and how it is shown. */
export interface VisibleSection {
  readonly placed: PlacedSection;
  readonly visibility: Visibility;
}

export interface VisibilityContext {
  readonly promptName: string;
  readonly params: BoundParams;
  /** Called only if a section uses the session. */
  readonly session: () => Session;
}

/**
 * Selects the sections to show. A disabled section hides its children, and a summary replaces them.
 * `top`, if set, is always shown in full.
 */
export function listVisibleSections(
  outline: readonly PlacedSection[],
  context: VisibilityContext,
  top: PlacedSection | null = null,
): readonly VisibleSection[] {
  const visible = new Map<PlacedSection, VisibleSection>();
  for (const placed of outline) {
    if (placed === top) visible.set(placed, { placed, visibility: "full" });
    else if (placed.parent && visible.get(placed.parent)?.visibility !== "full") continue;
    else if (isEnabled(placed, context)) {
      visible.set(placed, { placed, visibility: findVisibility(placed, context) });
    }
  }
  return [...visible.values()];
}

/** Selects the sections that are enabled, and whose parents are, also those below a summary. */
export function listEnabledSections(
  outline: readonly PlacedSection[],
  context: VisibilityContext,
): readonly PlacedSection[] {
  const enabled = new Set<PlacedSection>();
  for (const placed of outline) {
    const isReachable = placed.parent === null || enabled.has(placed.parent);
    if (isReachable && isEnabled(placed, context)) enabled.add(placed);
  }
  return [...enabled];
}

function isEnabled(placed: PlacedSection, { params, session }: VisibilityContext): boolean {
  const enabled = runSectionCode(placed, "its enabled() threw", () =>
    placed.section.isEnabled(getSectionParams(placed, params), session()),
  );
  if (typeof enabled === "boolean") return enabled;
  const problem = `its enabled() must return true or false synchronously, got ${quoteValue(enabled)}`;
  throw new PromptRenderError(placed.path, problem);
}

function findVisibility(
  placed: PlacedSection,
  { promptName, params, session }: VisibilityContext,
): Visibility {
  const { section, path } = placed;
  const sessionVisibility =
    section.summary === null ? null : session().get(visibilitySlice)[promptName]?.[path];
  const visibility = runSectionCode(placed, "its visibility() threw", () =>
    section.effectiveVisibility(
      getSectionParams(placed, params),
      session(),
      sessionVisibility ?? null,
    ),
  );
  if (visibility === "full") return visibility;
  if (visibility !== "summary") {
    const problem = `its visibility must be "full" or "summary", got ${quoteValue(visibility)}`;
    throw new PromptRenderError(path, problem);
  }
  if (section.summary !== null) return visibility;
  throw new PromptRenderError(path, 'its visibility is "summary", but it has no summary. Add one');
}

export interface TextContext {
  readonly params: BoundParams;
  /** Overridden section texts, by path. */
  readonly bodies: ReadonlyMap<string, TemplateText>;
  /** Whether sections that have `prepare` are prepared. Otherwise their text is omitted. */
  readonly prepared: boolean;
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

function renderBody(placed: PlacedSection, { params, bodies, prepared }: TextContext): string {
  const { section, depth, number, path } = placed;
  if (section.prepare && !prepared) return "";
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

/** Returns a section's params, which its own schema validated when they were bound. */
export function getSectionParams(placed: PlacedSection, params: BoundParams): never {
  return (params.get(placed) ?? {}) as never;
}

/** Runs user code of a section. Wraps its errors to name the section. */
export function runSectionCode<Result>(
  { path }: PlacedSection,
  problem: string,
  work: () => Result,
): Result {
  try {
    return work();
  } catch (cause) {
    throw new PromptRenderError(path, `${problem}: ${getErrorMessage(cause)}`, cause);
  }
}

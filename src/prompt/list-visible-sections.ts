import { getErrorMessage, PromptRenderError } from "../base/errors.ts";
import { quoteValue } from "../base/quote-value.ts";
import type { Session } from "../session/session.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
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

import { messageOf, PromptRenderError } from "../base/errors.ts";
import { show } from "../base/show.ts";
import type { Session } from "../session/session.ts";
import type { BoundParams, Placed } from "./outline.ts";
import { type Visibility, visibilitySlice } from "./visibility.ts";

/** A section that is in the prompt, and how. */
export interface Shown {
  readonly placed: Placed;
  readonly as: Visibility;
}

export interface ShownContext {
  readonly promptName: string;
  readonly params: BoundParams;
  /** Asked for only if some section wants it. */
  readonly session: () => Session;
}

/**
 * A section that is disabled takes its children with it, one that is summarised stands for them.
 * `top`, if given, is shown in full whatever is said of it.
 */
export function shownSections(
  outline: readonly Placed[],
  context: ShownContext,
  top: Placed | null = null,
): readonly Shown[] {
  const shown = new Map<Placed, Shown>();
  for (const placed of outline) {
    if (placed === top) shown.set(placed, { placed, as: "full" });
    else if (placed.parent && shown.get(placed.parent)?.as !== "full") continue;
    else if (isEnabled(placed, context)) {
      shown.set(placed, { placed, as: visibilityOf(placed, context) });
    }
  }
  return [...shown.values()];
}

function isEnabled(placed: Placed, { params, session }: ShownContext): boolean {
  const enabled = attempt(placed, "its enabled predicate failed", () =>
    placed.section.isEnabled(paramsOf(placed, params), session()),
  );
  if (typeof enabled === "boolean") return enabled;
  const problem = `its enabled predicate returned ${show(enabled)}: it must return true or false at once`;
  throw new PromptRenderError(placed.path, problem);
}

function visibilityOf(placed: Placed, { promptName, params, session }: ShownContext): Visibility {
  const { section, path } = placed;
  const said = section.summary === null ? null : session().get(visibilitySlice)[promptName]?.[path];
  const visibility = attempt(placed, "its visibility failed", () =>
    section.effectiveVisibility(paramsOf(placed, params), session(), said ?? null),
  );
  if (visibility === "full") return visibility;
  if (visibility !== "summary") {
    const problem = `its visibility is ${show(visibility)}: it must be "full" or "summary"`;
    throw new PromptRenderError(path, problem);
  }
  if (section.summary !== null) return visibility;
  throw new PromptRenderError(path, "it is to be summarised and has no summary: give it one");
}

/** Each section's params were validated by its own schema when they were bound. */
export function paramsOf(placed: Placed, params: BoundParams): never {
  return (params.get(placed) ?? {}) as never;
}

/** What a user wrote for a section may throw: the error then names the section. */
export function attempt<Result>({ path }: Placed, problem: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new PromptRenderError(path, `${problem}: ${messageOf(cause)}`, cause);
  }
}

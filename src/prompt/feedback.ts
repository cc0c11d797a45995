import { PromptValidationError } from "../base/errors.ts";
import type { ToolContext } from "../tools/tool-context.ts";

/** Says something to the model after a tool call: how the time goes, what it has forgotten. */
export interface FeedbackProvider {
  readonly name: string;
  /** `null`: nothing to say now. */
  provide(context: ToolContext): string | null | Promise<string | null>;
}

/** Returns a frozen copy of the list if all of it are feedback providers. */
export function checkFeedback(
  feedback: readonly FeedbackProvider[] | undefined,
  field: string,
): readonly FeedbackProvider[] {
  const all: unknown = feedback ?? [];
  if (Array.isArray(all) && all.every(isProvider)) return Object.freeze([...all]);
  throw new PromptValidationError({
    field,
    value: feedback,
    rule: "must be a list of feedback providers",
    remedy: "write { name, provide(context) { return text or null } }",
  });
}

function isProvider(value: unknown): value is FeedbackProvider {
  if (typeof value !== "object" || value === null) return false;
  const { name, provide } = value as Partial<FeedbackProvider>;
  return typeof name === "string" && /^[\w .-]{1,64}$/.test(name) && typeof provide === "function";
}

import { PromptValidationError } from "../base/errors.ts";
import type { ToolContext } from "../tools/tool-context.ts";

/** Adds a note for the model after a tool call, such as the remaining time or a missed step. */
export interface FeedbackProvider {
  /** Name of the provider: 1-64 letters, digits, spaces, `_`, `.` and `-`. */
  readonly name: string;
  /** Returns the note, or `null` if there is none now. */
  provide(context: ToolContext): string | null | Promise<string | null>;
}

/** Returns a frozen copy of `feedback` if every entry is a feedback provider. */
export function checkFeedback(
  feedback: readonly FeedbackProvider[] | undefined,
  field: string,
): readonly FeedbackProvider[] {
  const all: unknown = feedback ?? [];
  if (Array.isArray(all) && all.every(isFeedbackProvider)) return Object.freeze([...all]);
  throw new PromptValidationError({
    field,
    value: feedback,
    rule: "must be an array of feedback providers",
    remedy: "use { name, provide(context) { return text or null } }",
  });
}

function isFeedbackProvider(value: unknown): value is FeedbackProvider {
  if (typeof value !== "object" || value === null) return false;
  const { name, provide } = value as Partial<FeedbackProvider>;
  return typeof name === "string" && /^[\w .-]{1,64}$/.test(name) && typeof provide === "function";
}

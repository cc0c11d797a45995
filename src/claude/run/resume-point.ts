import { isPlainObject } from "../../base/freeze.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { SentTexts } from "./sent-prompt.ts";

/**
 * Stores the prompt of the session's last evaluation on Claude as the model has it, so that the evaluation can
 * be resumed; `null` before the first.
 */
export const resumePointSlice = addLibrarySlice(
  defineSlice<SentTexts | null>("claude.resume", {
    initial: null,
    policy: "log",
    on: {
      HistoryAdvanced: (sent, { adapter, resumePoint }) =>
        adapter === "claude" && isSentTexts(resumePoint) ? resumePoint : sent,
    },
  }),
);

/** Whether two prompts have the same texts. */
export function hasSameTexts(one: SentTexts | null, other: SentTexts): boolean {
  const { hasUserPart, user, input } = other;
  return one?.hasUserPart === hasUserPart && one.user === user && one.input === input;
}

function isSentTexts(value: object | undefined): value is SentTexts {
  return isPlainObject(value) && "hasUserPart" in value && typeof value["user"] === "string";
}

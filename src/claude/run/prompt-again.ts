import { textAt } from "../../base/reading.ts";
import type { Given } from "../given.ts";
import { inParts, partCount } from "./hook-parts.ts";

/** More parts than the prompt has now, for it may be rendered anew and longer. */
const SPARE = 8;

/**
 * Hooks by which the model reads its prompt again once the SDK has made the conversation shorter:
 * a summary then stands where the prompt was. `prompt` is how it reads by now.
 */
export function promptAgain(prompt: () => string): Given {
  const hooks = inParts("SessionStart", partCount(prompt()) + SPARE, (input) =>
    textAt(input, "source") === "compact" ? `The instructions read:\n\n${prompt()}` : "",
  );
  return { SessionStart: [{ hooks }] };
}

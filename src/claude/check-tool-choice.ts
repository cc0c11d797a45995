import { createUnknownToolChoiceError } from "../adapter/check-tool-choice.ts";
import type { ToolChoice } from "../adapter/model-client.ts";
import { isRestriction } from "../adapter/tool-choice.ts";
import { InvalidOptionError } from "../base/errors.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";

/** Throws for a tool choice that the SDK cannot apply: it can offer fewer tools, but not force a call. */
export function checkToolChoice(choice: ToolChoice, hostedTools: readonly HostedTool[]): void {
  if (choice === "auto" || choice === "none") return;
  if (!isRestriction(choice) || choice.mode === "required") {
    throw new InvalidOptionError({
      field: "toolChoice",
      value: choice,
      rule: 'must be "auto", "none" or allowed tools with the mode "auto" on Claude: the SDK cannot force the model to call a tool',
      remedy: "name the tool to call in the prompt",
    });
  }
  const names = hostedTools.map(({ kind }) => kind);
  for (const [index, one] of choice.tools.entries()) {
    const { type: given } = one;
    if (given === "function" || given === "built_in" || names.includes(given)) continue;
    const expected = { what: "a tool in this prompt", given, names };
    throw createUnknownToolChoiceError(`tools[${index}]`, one, expected);
  }
}

import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { findShellName } from "./client-tools.ts";
import { toPatchToolUses } from "./patch-tool-uses.ts";
import { toPythonCommand } from "./python-command.ts";
import type { SdkToolUse } from "./sdk-tool-use.ts";

/** A model action that runs at the provider on OpenAI's API. */
export type SdkToolAction = Extract<
  ModelAction,
  { code: string } | { shell: unknown } | { search: unknown } | { patch: unknown }
>;

/**
 * Converts an action to calls of the client's tools, whether or not the request offers them: Anthropic's own
 * tools if it offers those, otherwise the tools of the Claude Agent SDK.
 */
export function toSdkToolUses(
  action: SdkToolAction,
  tools: readonly WireItem[],
): readonly SdkToolUse[] {
  const shell = findShellName(tools) ?? "Bash";
  if ("code" in action) return [{ name: shell, input: { command: toPythonCommand(action.code) } }];
  if ("shell" in action)
    return action.shell.map((command) => ({ name: shell, input: { command } }));
  if ("patch" in action) return toPatchToolUses(action.patch, tools);
  return [toSearchUse(action.search)];
}

/** Describes an action for error messages: `"ran code"`. */
export function describeSdkAction(action: SdkToolAction): string {
  return ACTION_PHRASES.find(([key]) => key in action)?.[1] ?? "used a tool";
}

const ACTION_PHRASES = [
  ["code", "ran code"],
  ["shell", "ran a command"],
  ["search", "searched the web"],
  ["patch", "wrote a patch"],
] as const;

function toSearchUse(search: Extract<SdkToolAction, { search: unknown }>["search"]): SdkToolUse {
  if (typeof search === "string") return { name: "WebSearch", input: { query: search } };
  if ("web" in search) return { name: "WebSearch", input: { query: search.web } };
  if ("open" in search)
    return { name: "WebFetch", input: { url: search.open, prompt: "Give the page's text." } };
  if ("find" in search)
    return { name: "WebFetch", input: { url: search.in, prompt: `Find: ${search.find}` } };
  const message =
    "the model searched files, but the Messages API has no file search. Change the step.";
  throw new StepFault(message);
}

import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { createModelFault } from "./check/invalid-problem.ts";
import { toPatchToolUses } from "./patch-tool-uses.ts";
import type { SdkToolUse } from "./sdk-tool-use.ts";

/** A model action that runs at the provider on OpenAI's API. */
export type SdkToolAction = Extract<
  ModelAction,
  { code: string } | { shell: unknown } | { search: unknown } | { patch: unknown }
>;

/** Converts an action to calls of the SDK's tools. Throws if the request does not offer a needed tool. */
export function toSdkToolUses(
  action: SdkToolAction,
  tools: readonly WireItem[],
): readonly SdkToolUse[] {
  const has = (name: string) => tools.some((tool) => tool["name"] === name);
  const uses = toUses(action, has);
  const missing = uses.find(({ name }) => !has(name));
  if (missing) {
    const did = ACTION_PHRASES.find(([key]) => key in action)?.[1];
    throw createModelFault(
      `The model ${did}, but the request offers no tool ${missing.name}. Offer it, or change the model's action.`,
    );
  }
  return uses;
}

const ACTION_PHRASES = [
  ["code", "ran code"],
  ["shell", "ran a command"],
  ["search", "searched the web"],
  ["patch", "wrote a patch"],
] as const;

function toUses(action: SdkToolAction, has: (name: string) => boolean): readonly SdkToolUse[] {
  if ("code" in action) return [{ name: "Bash", input: { command: toPythonCommand(action.code) } }];
  if ("shell" in action)
    return action.shell.map((command) => ({ name: "Bash", input: { command } }));
  if ("patch" in action) return toPatchToolUses(action.patch, has);
  return [toSearchUse(action.search)];
}

/**
 * Returns a shell command that runs the code with Python. The here-document's delimiter never occurs in the
 * code.
 */
export function toPythonCommand(code: string): string {
  const lines = new Set(code.split("\n"));
  let delimiter = "PYTHON";
  while (lines.has(delimiter)) delimiter += "_";
  return `python3 - <<'${delimiter}'\n${code}\n${delimiter}`;
}

function toSearchUse(search: Extract<SdkToolAction, { search: unknown }>["search"]): SdkToolUse {
  if (typeof search === "string") return { name: "WebSearch", input: { query: search } };
  if ("web" in search) return { name: "WebSearch", input: { query: search.web } };
  if ("open" in search)
    return { name: "WebFetch", input: { url: search.open, prompt: "Give the page's text." } };
  if ("find" in search)
    return { name: "WebFetch", input: { url: search.in, prompt: `Find: ${search.find}` } };
  const message =
    "The model searched files, but the Messages API has no file search. Change the model's action.";
  throw createModelFault(message);
}

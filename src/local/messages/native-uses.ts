import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { modelFault } from "./check/refusal.ts";
import type { NativeUse } from "./native-use.ts";
import { patchUses } from "./patch-uses.ts";

/** What a model does that runs at the provider on the other API. */
export type NativeAction = Extract<
  ModelAction,
  { code: string } | { shell: unknown } | { search: unknown } | { patch: unknown }
>;

/** The calls that an action comes to; refuses one whose tool the request does not offer. */
export function nativeUses(action: NativeAction, tools: readonly WireItem[]): readonly NativeUse[] {
  const has = (name: string) => tools.some((tool) => tool["name"] === name);
  const uses = usesOf(action, has);
  const missing = uses.find(({ name }) => !has(name));
  if (missing) {
    const did = doings.find(([key]) => key in action)?.[1];
    throw modelFault(
      `The model ${did}, and the request offers no tool ${missing.name}: offer it, or change what the model does.`,
    );
  }
  return uses;
}

const doings = [
  ["code", "ran code"],
  ["shell", "ran a command"],
  ["search", "searched the web"],
  ["patch", "wrote a patch"],
] as const;

function usesOf(action: NativeAction, has: (name: string) => boolean): readonly NativeUse[] {
  if ("code" in action) return [{ name: "Bash", input: { command: pythonCommand(action.code) } }];
  if ("shell" in action)
    return action.shell.map((command) => ({ name: "Bash", input: { command } }));
  if ("patch" in action) return patchUses(action.patch, has);
  return [searchUse(action.search)];
}

/** Runs that Python and nothing else, whatever is written in it: the end mark is no line of it. */
export function pythonCommand(code: string): string {
  const lines = new Set(code.split("\n"));
  let mark = "PYTHON";
  while (lines.has(mark)) mark += "_";
  return `python3 - <<'${mark}'\n${code}\n${mark}`;
}

function searchUse(search: Extract<NativeAction, { search: unknown }>["search"]): NativeUse {
  if (typeof search === "string") return { name: "WebSearch", input: { query: search } };
  if ("web" in search) return { name: "WebSearch", input: { query: search.web } };
  if ("open" in search)
    return { name: "WebFetch", input: { url: search.open, prompt: "Give the page's text." } };
  if ("find" in search)
    return { name: "WebFetch", input: { url: search.in, prompt: `Find: ${search.find}` } };
  const message =
    "The model searched files, and the Messages API has no file search: change what the model does.";
  throw modelFault(message);
}

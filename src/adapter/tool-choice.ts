import { InvalidOptionError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { list } from "../base/show.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../tools/projected-tool.ts";
import type { ToolChoice, Turn } from "./model-client.ts";

const refuse = InvalidOptionError.at("toolChoice");

/** Refuses a choice that names nothing in the prompt. */
export function checkToolChoice(choice: ToolChoice, rendered: RenderedPrompt): void {
  if (choice === "auto" || choice === "none") return;
  const functions = rendered.tools.filter((tool) => !runsAtProvider(tool)).map(({ name }) => name);
  const hosted = rendered.hostedTools.map(({ name }) => name);
  if (choice === "required") {
    if (functions.length + hosted.length > 0) return;
    throw refuse("", choice, "must be possible, and the prompt has no tools", 'use "auto"');
  }
  if (!isPlainObject(choice) || typeof choice.type !== "string" || choice.type === "") {
    throw refuse(
      "",
      choice,
      "must be a tool choice",
      'use "auto", "none", "required" or { type, name }',
    );
  }
  if (choice.type === "function") checkNamed(choice, functions, "a tool that runs here");
  if (choice.type === "built_in") checkNamed(choice, hosted, "a hosted tool");
}

/** Once met, a choice no longer forces: a model that must always call never answers. */
export function choiceAfter(
  choice: ToolChoice,
  { toolCalls, hostedCalls, askedCalls = [] }: Turn,
): ToolChoice {
  if (choice === "auto" || choice === "none") return choice;
  const calls = [...toolCalls, ...hostedCalls, ...askedCalls];
  const isMet =
    typeof choice === "object" && "name" in choice
      ? calls.some(({ name }) => name === choice.name)
      : calls.length > 0;
  return isMet ? "auto" : choice;
}

function checkNamed(
  choice: { readonly type: string },
  names: readonly string[],
  what: string,
): void {
  const { name } = choice as { readonly name?: unknown };
  if (typeof name === "string" && names.includes(name)) return;
  const there = names.length > 0 ? `there are ${list(names)}` : "the prompt has none";
  throw refuse("", choice, `must name ${what}`, there);
}

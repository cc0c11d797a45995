import { InvalidOptionError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { ToolChoice, Turn } from "./model-client.ts";

const refuse = InvalidOptionError.at("toolChoice");

/** Throws for a tool choice that the prompt cannot satisfy. */
export function checkToolChoice(choice: ToolChoice, rendered: RenderedPrompt): void {
  if (choice === "auto" || choice === "none") return;
  const functions = rendered.tools.filter((tool) => !runsAtProvider(tool)).map(({ name }) => name);
  const hosted = rendered.hostedTools.map(({ name }) => name);
  if (choice === "required") {
    if (functions.length + hosted.length > 0) return;
    throw refuse("", choice, 'must not be "required" for a prompt without tools', 'use "auto"');
  }
  if (!isPlainObject(choice) || typeof choice.type !== "string" || choice.type === "") {
    const rule = 'must be "auto", "none", "required" or { type, name }';
    throw refuse("", choice, rule, 'use "auto" to let the model decide');
  }
  if (choice.type === "function") checkNamed(choice, functions, "a tool that runs locally");
  if (choice.type === "built_in") checkNamed(choice, hosted, "a hosted tool");
}

/**
 * Returns "auto" once a forced choice was satisfied: a model that must always call never answers.
 */
export function relaxToolChoice(
  choice: ToolChoice,
  { toolCalls, hostedCalls, delegatedCalls = [] }: Turn,
): ToolChoice {
  if (choice === "auto" || choice === "none") return choice;
  const calls = [...toolCalls, ...hostedCalls, ...delegatedCalls];
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
  const remedy = names.length > 0 ? `use one of ${quoteNames(names)}` : "add one to the prompt";
  throw refuse("", choice, `must name ${what}`, remedy);
}

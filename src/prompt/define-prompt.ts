import { checkKey } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { ParamsOf, UnboundState } from "./params.ts";
import { Prompt } from "./prompt.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate, type RequiredOutput } from "./template.ts";

/** Options of {@link definePrompt}. */
export interface DefinePromptOptions<Output, Params extends object, Input> {
  /** Name of the prompt: `"namespace:key"`, or `"key"` in the namespace `"agent"`. */
  readonly name: string;
  /**
   * What the agent is and does: the system message. With `params`, `$name` or `${name}` inserts a
   * param, and `$$` a dollar sign.
   */
  readonly instructions: string;
  /**
   * The task of each evaluation: a user message before `input`. With `params`, `$name` inserts a param.
   * Untrusted text belongs here or in `input`.
   * @default none: the `input` of an evaluation is its task
   */
  readonly userTemplate?: string | undefined;
  /** Schema of the params that the texts use: an object at its root. @default no params */
  readonly params?: Schema<Params, Input> | undefined;
  /** Tools that the model may call. @default none */
  readonly tools?: readonly Tool[] | undefined;
  /** Tools that the provider runs. @default none */
  readonly hostedTools?: readonly HostedTool[] | undefined;
  /** Schema of the model's answer: an object, or an array for a list. @default the answer is text */
  readonly output?: Schema<Output> | undefined;
}

const keys: KnownKeys<DefinePromptOptions<unknown, object, object>> = {
  hostedTools: true,
  instructions: true,
  name: true,
  output: true,
  params: true,
  tools: true,
  userTemplate: true,
};

/** The params that a prompt of {@link definePrompt} needs. */
type DefinedParams<Params extends object, Input> = ParamsOf<MarkdownSection<Params, Input>>;

/**
 * Defines an agent in one call. The prompt has the section `instructions` and, with `userTemplate`,
 * the user section `task`. Bind it if it has params. Use a `PromptTemplate` for more sections.
 *
 * @example
 * ```ts
 * import { definePrompt } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const agent = definePrompt({
 *   name: "support:reply",
 *   instructions: "You answer questions about our product in two sentences.",
 * });
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
 * const { text } = await adapter.evaluate(agent, { input: "How do I reset my password?" });
 * ```
 */
export function definePrompt<Output = string, Params extends object = object, Input = Params>(
  options: DefinePromptOptions<Output, Params, Input> & RequiredOutput<Output>,
): Prompt<Output, DefinedParams<Params, Input>, UnboundState<DefinedParams<Params, Input>>>;
export function definePrompt(
  options: DefinePromptOptions<unknown, object, object>,
): Prompt<unknown, object> {
  checkKnownKeys(options, "definePrompt", keys, PromptValidationError);
  const { instructions, userTemplate, params, tools, hostedTools, output } = options;
  const system = new MarkdownSection({
    key: "instructions",
    title: "Instructions",
    template: checkText(instructions, "instructions", "say what the agent is and does"),
    ...{ params, tools, hostedTools },
  });
  const sections: readonly Section[] =
    userTemplate === undefined ? [system] : [system, createTask(userTemplate, params)];
  return new Prompt(new PromptTemplate({ ...parseName(options.name), sections, output }));
}

function createTask(template: string, params: Schema<object, object> | undefined): Section {
  checkText(template, "userTemplate", "omit it if the input of each evaluation is the task");
  return new MarkdownSection({ key: "task", title: "Task", template, params, role: "user" });
}

function parseName(name: string): { readonly ns: string; readonly key: string } {
  const field = "definePrompt(name)";
  const parts = typeof name === "string" ? name.split(":") : [];
  const [first = "", second] = parts;
  if (parts.length < 1 || parts.length > 2) {
    const rule = 'must be "key" or "namespace:key"';
    const remedy = 'use a name such as "support:reply"';
    throw new PromptValidationError({ field, value: name, rule, remedy });
  }
  return second === undefined
    ? { ns: "agent", key: checkKey(first, field) }
    : { ns: checkKey(first, `${field} namespace`), key: checkKey(second, `${field} key`) };
}

function checkText(text: string, name: string, remedy: string): string {
  if (typeof text === "string" && text.trim() !== "") return text;
  const rule = "must be text that is not blank";
  throw new PromptValidationError({ field: `definePrompt(${name})`, value: text, rule, remedy });
}

import { WinkError } from "../../base/errors.ts";
import { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { createForeignCopyError, importModule } from "../import-module.ts";

/** The agent that a module exports: a prompt, or a loop with its own adapter. */
export type Agent =
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "loop"; readonly loop: AgentLoop };

/** Loads the agent that a module has as its default export. */
export async function loadAgent(file: string): Promise<Agent> {
  const module = await importModule(file, "a module with an agent");
  const agent: unknown = "default" in module ? module.default : undefined;
  if (agent instanceof AgentLoop) return { kind: "loop", loop: agent };
  if (agent instanceof Prompt) return { kind: "prompt", prompt: agent };
  if (agent instanceof PromptTemplate) return { kind: "prompt", prompt: new Prompt(agent) };
  if (KINDS.some(({ name }) => agent?.constructor?.name === name)) {
    throw createForeignCopyError(file);
  }
  throw new WinkError(
    `The default export of ${file} is ${describe(agent)}, and not a PromptTemplate, a Prompt or an AgentLoop. ` +
      `Use export default definePrompt({ … }), or run the file as a program: wink run node ${file}`,
  );
}

const KINDS = [AgentLoop, Prompt, PromptTemplate];

/** Names the kind of a value. Its content may be a secret. */
function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  const type = typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
  const name = type === "Object" || type === "Array" ? type.toLowerCase() : type;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}

import { InvalidOptionError } from "../../base/errors.ts";
import type { Agent } from "./load-agent.ts";
import type { AgentRunOptions } from "./run-options.ts";

const refuse = InvalidOptionError.at("");

/**
 * Checks the flags that depend on the environment and on the kind of the agent, which is `null` before it is loaded.
 * Throws `InvalidOptionError`.
 */
export function checkAgentFlags(
  agent: Agent | null,
  { model, input, isLocal }: Pick<AgentRunOptions, "model" | "input" | "isLocal">,
  hasProvider: boolean,
): void {
  if (model !== undefined && (isLocal || !hasProvider)) {
    const rule = isLocal
      ? "must be a script, because another flag starts the local provider"
      : "must be a script unless OPENAI_API_KEY or OPENAI_BASE_URL is set";
    const remedy = "set OPENAI_API_KEY for OpenAI's API, or omit the name of the model";
    throw refuse("--model", model, rule, remedy);
  }
  if (agent?.kind === "loop") checkLoopFlags(agent.loop.name, model, input);
  if (agent?.kind !== "prompt" || model !== undefined || isLocal || !hasProvider) return;
  const rule = "must name a model, because OPENAI_API_KEY or OPENAI_BASE_URL is set";
  throw refuse("--model", model, rule, "use --model gpt-5.2, or --model turns.json for a script");
}

function checkLoopFlags(name: string, model: string | undefined, input: string | undefined): void {
  const rule = `must be omitted for the loop "${name}"`;
  if (model !== undefined) {
    throw refuse("--model", model, rule, "set the model in the adapter of the loop");
  }
  if (input !== undefined) {
    throw refuse("--input", input, rule, "pass the fields of its request with --param");
  }
}

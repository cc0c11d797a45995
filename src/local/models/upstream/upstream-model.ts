import { isPlainObject } from "../../../base/freeze.ts";
import type { TokenUsage } from "../../../base/usage.ts";
import type { LocalModel, ModelOptions, ModelRequest } from "../local-model.ts";
import { getCatalog } from "../resolve-choice.ts";
import { arrangeTurns } from "./arrange-turns.ts";
import { createChatFunctions } from "./chat-functions.ts";
import { type ChatTurn, toChatTurns } from "./chat-turns.ts";
import { chatWire } from "./chat-wire.ts";
import { responsesWire } from "./responses-wire.ts";
import { toUpstreamActions } from "./upstream-actions.ts";
import { createFailureFactory, createUpstreamExchange } from "./upstream-exchange.ts";
import { readUpstreamSettings, type UpstreamModelOptions } from "./upstream-options.ts";

export type { UpstreamModelOptions } from "./upstream-options.ts";

/**
 * Creates a model that is served by any OpenAI-compatible server: vLLM, Ollama, llama.cpp, … Hosted tools are
 * offered to it as functions and run here. An invalid hosted tool call is returned to the model once for
 * correction. Responses have the token usage that the server reports.
 *
 * @example
 * ```ts
 * import { LocalProvider, upstreamModel } from "weakincentives/local";
 *
 * const model = upstreamModel({ baseURL: "http://127.0.0.1:11434/v1", model: "qwen3" });
 * const provider = new LocalProvider({ model });
 * ```
 */
export function upstreamModel(options: UpstreamModelOptions): LocalModel {
  const settings = readUpstreamSettings(options);
  const { model, apiKey, baseURL } = settings;
  const wire = settings.api === "chat" ? chatWire : responsesWire;
  const exchange = createUpstreamExchange(settings, wire.path);
  const createFailure = createFailureFactory(baseURL + wire.path, apiKey);

  const callUpstream = async (
    request: ModelRequest,
    corrections: readonly ChatTurn[],
    signal: Signal,
  ) => {
    const functions = createChatFunctions(request);
    const history = toChatTurns(request.items, functions.getName, getCatalog(request));
    const { system, turns } = arrangeTurns(request.instructions, [...history, ...corrections]);
    const format = isPlainObject(request.format) ? request.format : null;
    const input = { model, system, turns, functions, format };
    const body = await exchange(wire.createRequest(input), signal);
    const answer = wire.readAnswer(body);
    if (typeof answer === "string") throw createFailure("returned no answer", answer);
    return { ...toUpstreamActions(answer, functions), usage: wire.readUsage(body["usage"]) };
  };

  return Object.freeze({
    mayIgnoreToolChoice: true, // not every server implements it
    async respond(request: ModelRequest, { signal, onUsage }: ModelOptions = {}) {
      const first = await callUpstream(request, [], signal);
      if (first.ok) {
        reportUsage([first.usage], onUsage);
        return first.actions;
      }
      const second = await callUpstream(request, [first.correction], signal);
      if (!second.ok)
        throw createFailure("made an invalid call twice, even after a correction", second.problem);
      reportUsage([first.usage, second.usage], onUsage);
      return second.actions;
    },
  });
}

type Signal = AbortSignal | undefined;

/** Reports the usage of all exchanges, or nothing if it is not known for each one. */
function reportUsage(
  usages: readonly (TokenUsage | null)[],
  onUsage: ModelOptions["onUsage"],
): void {
  const known = usages.filter((usage) => usage !== null);
  if (known.length === usages.length) for (const usage of known) onUsage?.(usage);
}

import { isPlainObject } from "../../../base/freeze.ts";
import { catalogOf } from "../forced-choice.ts";
import type { LocalModel, ModelOptions, ModelRequest } from "../local-model.ts";
import { chatWire } from "./chat-wire.ts";
import { offeredFunctions } from "./offered-functions.ts";
import { responsesWire } from "./responses-wire.ts";
import { type SpokenTurn, spokenHistory } from "./spoken-history.ts";
import { understood } from "./upstream-actions.ts";
import { failures, upstreamExchange } from "./upstream-exchange.ts";
import { type UpstreamModelOptions, upstreamSettings } from "./upstream-options.ts";

export type { UpstreamModelOptions } from "./upstream-options.ts";

/**
 * The model of any OpenAI-compatible server: vLLM, Ollama, llama.cpp, … Hosted tools are offered to
 * it as functions and run here. A call of one that makes no sense is sent back to it once.
 *
 * @example
 * upstreamModel({ baseURL: "http://127.0.0.1:11434/v1", model: "qwen3" });
 */
export function upstreamModel(options: UpstreamModelOptions): LocalModel {
  const settings = upstreamSettings(options);
  const { model, apiKey, baseURL } = settings;
  const wire = settings.api === "chat" ? chatWire : responsesWire;
  const exchange = upstreamExchange(settings, wire.path);
  const failed = failures(baseURL + wire.path, apiKey);

  const ask = async (request: ModelRequest, corrections: readonly SpokenTurn[], signal: Signal) => {
    const offered = offeredFunctions(request);
    const history = spokenHistory(request.items, offered.nameOf, catalogOf(request));
    const turns = [...history, ...corrections];
    const { instructions } = request;
    const format = isPlainObject(request.format) ? request.format : null;
    const question = { model, instructions, turns, offered, format };
    const answer = wire.read(await exchange(wire.ask(question), signal));
    if (typeof answer === "string") throw failed("gave no answer", answer);
    return understood(answer, offered);
  };

  return Object.freeze({
    async respond(request: ModelRequest, { signal }: ModelOptions = {}) {
      const first = await ask(request, [], signal);
      if (first.ok) return first.actions;
      const second = await ask(request, [first.correction], signal);
      if (second.ok) return second.actions;
      throw failed("called in vain, and again after it was told", second.problem);
    },
  });
}

type Signal = AbortSignal | undefined;

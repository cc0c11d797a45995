import { isPlainObject } from "../../../base/freeze.ts";
import type { TokenUsage } from "../../../base/usage.ts";
import type { ModelAction } from "../../model-action.ts";
import type { LocalModel, ModelOptions, ModelRequest } from "../local-model.ts";
import { getCatalog } from "../resolve-choice.ts";
import { AnswerReporter } from "./answer-reporter.ts";
import { arrangeTurns } from "./arrange-turns.ts";
import { type ChatFunctions, createChatFunctions } from "./chat-functions.ts";
import { type ChatTurn, toChatTurns } from "./chat-turns.ts";
import { chatWire } from "./chat-wire.ts";
import { responsesWire } from "./responses-wire.ts";
import { toUpstreamActions } from "./upstream-actions.ts";
import type { UpstreamAnswer } from "./upstream-answer.ts";
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
    { signal, onPart }: Pick<ModelOptions, "signal" | "onPart">,
  ) => {
    const functions = createChatFunctions(request);
    const history = toChatTurns(request.items, functions.getName, getCatalog(request));
    const { system, turns } = arrangeTurns(request.instructions, [...history, ...corrections]);
    const format = isPlainObject(request.format) ? request.format : null;
    const allowsCommentary = format === null || format["type"] === "text";
    const reporter =
      onPart && canReport(functions, allowsCommentary) ? new AnswerReporter(onPart) : null;
    const stream = reporter ? wire.createStream(reporter) : null;
    const input = { model, system, turns, functions, format, stream: stream !== null };
    const body = await exchange(wire.createRequest(input), signal, stream);
    const read = wire.readAnswer(body);
    if (typeof read === "string") throw createFailure("returned no answer", read);
    const answer = reporter ? reporter.correct(read) : read;
    const usage = wire.readUsage(body["usage"]);
    const reported = reporter?.hasReported ? toReportedActions(answer) : [];
    return { ...toUpstreamActions(answer, functions, allowsCommentary), usage, reported };
  };

  return Object.freeze({
    mayIgnoreToolChoice: true, // not every server implements it
    async respond(request: ModelRequest, { signal, onUsage, onPart }: ModelOptions = {}) {
      const first = await callUpstream(request, [], { signal, onPart });
      if (first.ok) {
        reportUsage([first.usage], onUsage);
        return first.actions;
      }
      const isReported = first.reported.length > 0; // at most one text can be reported
      const again = { signal, onPart: isReported ? undefined : onPart };
      const second = await callUpstream(request, [first.correction], again);
      if (!second.ok)
        throw createFailure("made an invalid call twice, even after a correction", second.problem);
      reportUsage([first.usage, second.usage], onUsage);
      return [...first.reported, ...second.actions];
    },
  });
}

/**
 * Whether an answer can be reported while it arrives. If the client has a schema for the answer, text before a hosted
 * call is a thought, and only the end of the answer shows whether there is such a call.
 */
function canReport({ all }: ChatFunctions, allowsCommentary: boolean): boolean {
  return allowsCommentary || all.every(({ hosted }) => hosted === null);
}

/** Returns the actions for what was reported of an answer that has to be corrected. */
function toReportedActions({ thought, text }: UpstreamAnswer): readonly ModelAction[] {
  const thoughts = thought === "" ? [] : [{ think: thought }];
  return [...thoughts, { say: text, phase: "commentary" }];
}

/** Reports the usage of all exchanges, or nothing if it is not known for each one. */
function reportUsage(
  usages: readonly (TokenUsage | null)[],
  onUsage: ModelOptions["onUsage"],
): void {
  const known = usages.filter((usage) => usage !== null);
  if (known.length === usages.length) for (const usage of known) onUsage?.(usage);
}

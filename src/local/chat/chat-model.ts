import type { ModelAction } from "../model-action.ts";
import type { LocalModel } from "../models/local-model.ts";
import { StepFault } from "../step-fault.ts";
import { checkAnswer } from "../turn/call-model.ts";
import { findFirstStop } from "../turn/find-first-stop.ts";

/**
 * Creates the model of one chat completion. It rejects actions that only a response can have, gives each failure
 * an HTTP status, because a completion cannot have failed, and ends the step at the first stop sequence.
 */
export function createChatModel(model: LocalModel, stop: readonly string[]): LocalModel {
  let calls = 0;
  return {
    mayIgnoreToolChoice: model.mayIgnoreToolChoice,
    async respond(request, options) {
      const answer = checkAnswer(await model.respond(request, options));
      rejectUnknownActions(answer);
      const isFirst = calls++ === 0;
      const actions = answer.map((one, place) => toFailure(one, isFirst && place === 0));
      return stop.length === 0 ? actions : endAtStop(actions, stop);
    },
  };
}

function rejectUnknownActions(actions: readonly ModelAction[]): void {
  if (actions.some((action) => "compact" in action))
    throw new StepFault(
      "the model compacted the conversation, but a chat completion has no compaction item. Change the step, or send the request to POST /v1/responses.",
    );
  if (actions.some((action) => "expireContainer" in action))
    throw new StepFault(
      "the model expired a container, but a chat completion has no containers. Change the step, or send the request to POST /v1/responses.",
    );
}

/** Adds the status to a failure. Only the first action of a turn can fail before the stream starts. */
function toFailure(action: ModelAction, isFirst: boolean): ModelAction {
  if (!("fail" in action)) return action;
  const status = action.fail.code === "rate_limit_exceeded" ? 429 : 500;
  const fail = { status, ...action.fail };
  return isFirst ? { fail } : { failInStream: fail };
}

/** Truncates the text at the first stop sequence and omits the actions after it. */
function endAtStop(
  actions: readonly ModelAction[],
  stop: readonly string[],
): readonly ModelAction[] {
  const kept: ModelAction[] = [];
  for (const action of actions) {
    const text = "say" in action ? toAnswerText(action.say) : "";
    const found = findFirstStop(text, stop);
    if (found) return [...kept, { say: text.slice(0, found.at) }];
    kept.push(action);
  }
  return kept;
}

function toAnswerText(say: string | object): string {
  return typeof say === "string" ? say : JSON.stringify(say);
}

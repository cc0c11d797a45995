import type { ModelAction } from "../model-action.ts";
import type { LocalModel } from "../models/local-model.ts";
import { StepFault } from "../step-fault.ts";
import { checkAnswer } from "../turn/call-model.ts";
import { findFirstStop } from "../turn/find-first-stop.ts";

/**
 * Creates the model of one chat completion. It rejects actions that only a response can have, and ends the step
 * at the first stop sequence, as a model that generates text does.
 */
export function createChatModel(model: LocalModel, stop: readonly string[]): LocalModel {
  return {
    mayIgnoreToolChoice: model.mayIgnoreToolChoice,
    async respond(request, options) {
      const actions = checkAnswer(await model.respond(request, options));
      rejectUnknownActions(actions);
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

/** Truncates the text at the first stop sequence and omits the actions after it. */
function endAtStop(
  actions: readonly ModelAction[],
  stop: readonly string[],
): readonly ModelAction[] {
  const kept: ModelAction[] = [];
  for (const action of actions) {
    const text = "say" in action ? toText(action.say) : "";
    const found = findFirstStop(text, stop);
    if (found) return [...kept, { say: text.slice(0, found.at) }];
    kept.push(action);
  }
  return kept;
}

function toText(say: string | object): string {
  return typeof say === "string" ? say : JSON.stringify(say);
}

import type { ApiProblem } from "../api-problem.ts";
import { SEALING_REMEDY, type Sealer } from "../turn/sealer.ts";
import type { TurnServices } from "../turn/turn.ts";
import { UsageMeter } from "../turn/usage-meter.ts";
import { joinPath } from "./check/anthropic-wording.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import { createInvalidProblem } from "./check/invalid-problem.ts";
import { type CheckOptions, checkMessageRequest } from "./check/request.ts";
import { createMessage } from "./create-message.ts";
import { DeferredActions } from "./deferred-actions.ts";
import { countRequestTokens, type MessageParts } from "./message-object.ts";
import type { FinishedBlock, StopReason } from "./message-state.ts";

/** A validated request and the message that has started for it. */
export type StartedMessage = Omit<MessageParts, "blocks" | "stop">;

/** Creates messages like Anthropic's API. */
export class Messages {
  readonly #turns: TurnServices;
  readonly #deferredActions = new DeferredActions();

  constructor(turns: TurnServices) {
    this.#turns = turns;
  }

  /** Validates a request. Throws the error that Anthropic would return, before anything runs. */
  start(body: unknown, options: CheckOptions = {}): StartedMessage {
    const request = checkMessageRequest(body, options);
    const forged = findForgedThinking(request.messages, this.#turns.sealer);
    if (forged) throw forged;
    const id = this.#turns.ids.next("msg_");
    const inputTokens = countRequestTokens(request);
    return { id, request, inputTokens, usage: new UsageMeter() };
  }

  /** Creates the message block by block. */
  createBlocks(
    { request, usage }: StartedMessage,
    signal: AbortSignal,
  ): AsyncGenerator<FinishedBlock, StopReason, undefined> {
    const services = { ...this.#turns, deferredActions: this.#deferredActions };
    return createMessage(request, services, { signal, usage });
  }
}

/** Returns the error for a thinking block that this server did not sign. */
function findForgedThinking(
  messages: readonly CheckedMessage[],
  sealer: Sealer,
): ApiProblem | null {
  for (const { content, place } of messages) {
    for (const [index, { type, signature }] of content.entries()) {
      if (type !== "thinking" || sealer.open(String(signature))) continue;
      const path = joinPath(joinPath(joinPath("messages", place), "content"), index);
      const problem = "Invalid `signature` in `thinking` block";
      return createInvalidProblem(path, `${problem}. ${SEALING_REMEDY}`);
    }
  }
  return null;
}

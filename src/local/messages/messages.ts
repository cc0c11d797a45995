import type { ApiProblem } from "../api-problem.ts";
import type { Sealer } from "../turn/sealed.ts";
import type { TurnServices } from "../turn/turn.ts";
import { at } from "./check/anthropic-wording.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import { refusal } from "./check/refusal.ts";
import { type CheckOptions, checkMessageRequest } from "./check/request.ts";
import { LeftActions } from "./left-actions.ts";
import { makeMessage } from "./make-message.ts";
import { type MessageParts, tokensAsked } from "./message-object.ts";
import type { Ended, MadeBlock } from "./message-state.ts";

/** A request that was found good, and the message that answers it. */
export type BegunMessage = Omit<MessageParts, "made" | "ended">;

/** Makes messages as Anthropic's API does. */
export class Messages {
  readonly #turns: TurnServices;
  readonly #left = new LeftActions();

  constructor(turns: TurnServices) {
    this.#turns = turns;
  }

  /** Throws what Anthropic would answer, before anything has run. */
  begin(body: unknown, options: CheckOptions = {}): BegunMessage {
    const request = checkMessageRequest(body, options);
    const forged = forgedThought(request.messages, this.#turns.sealer);
    if (forged) throw forged;
    const id = this.#turns.ids.next("msg_");
    return { id, request, inputTokens: tokensAsked(request) };
  }

  /** The answer, block by block. */
  blocks(
    { request }: BegunMessage,
    signal: AbortSignal,
  ): AsyncGenerator<MadeBlock, Ended, undefined> {
    return makeMessage(request, { ...this.#turns, left: this.#left }, signal);
  }
}

/** Thoughts go back as they came: what this server has not signed was never thought here. */
function forgedThought(messages: readonly CheckedMessage[], sealer: Sealer): ApiProblem | null {
  for (const { content, place } of messages) {
    for (const [index, { type, signature }] of content.entries()) {
      if (type !== "thinking" || sealer.open(String(signature))) continue;
      const path = at(at(at("messages", place), "content"), index);
      return refusal(path, "Invalid `signature` in `thinking` block");
    }
  }
  return null;
}

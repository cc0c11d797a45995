import { quoteValue } from "../../base/quote-value.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import type { AnswerPart } from "../turn/call-model.ts";
import type { TurnState } from "../turn/turn.ts";
import { createTextMessage } from "./create-message-item.ts";
import type { TurnProgress } from "./turn-progress.ts";

/** The answer of a model that is still writing it. Its parts are reported while the model writes. */
export class LiveAnswer {
  readonly #state: TurnState;
  readonly #progress: TurnProgress;
  readonly #think: (text: string) => void;
  #message: WireItem | null = null;
  #thought: string | null = null;
  #text = "";
  /** How many bytes of text the client accepts. */
  #bytesLeft: number;

  constructor(state: TurnState, progress: TurnProgress, think: (text: string) => void) {
    this.#state = state;
    this.#progress = progress;
    this.#think = think;
    const { maxOutputTokens } = state.input;
    this.#bytesLeft = maxOutputTokens === null ? Number.POSITIVE_INFINITY : maxOutputTokens * 4;
  }

  /** Reports a part of the answer. Resolves when the client can take more. */
  async add(part: AnswerPart): Promise<void> {
    if ("think" in part) {
      if (this.#message || this.#thought !== null) throw new StepFault(THOUGHT_TOO_LATE);
      this.#thought = part.think;
      await this.#progress.begin();
      this.#think(part.think);
      return await this.#progress.reportItems();
    }
    this.#text += part.say;
    this.#bytesLeft -= Buffer.byteLength(part.say);
    if (this.#bytesLeft < 0 || part.say === "") return; // the rest is cut off
    await this.#progress.begin();
    if (!this.#message) {
      this.#message = createTextMessage(this.#state.services.ids.next("msg_"), "");
      this.#state.messageId = String(this.#message["id"]);
    }
    await this.#progress.reportText({ message: this.#message, delta: part.say });
  }

  /** Returns the actions that remain to be performed. Throws a `StepFault` if they contradict what was reported. */
  finish(actions: readonly ModelAction[]): readonly ModelAction[] {
    const [first] = actions;
    const isThought = first !== undefined && "think" in first && first.think === this.#thought;
    const rest = isThought ? actions.slice(1) : actions;
    if (this.#thought !== null && !isThought) throw createContradiction("thought", this.#thought);
    const [next] = rest;
    const isSaid = next !== undefined && "say" in next && next.say === this.#text;
    if (this.#text !== "" && !isSaid) throw createContradiction("text", this.#text);
    return rest;
  }
}

const THOUGHT_TOO_LATE =
  "the model reported a thought with onPart after text or another thought. Report at most one, first.";

function createContradiction(what: string, reported: string): StepFault {
  return new StepFault(
    `the model reported the ${what} ${quoteValue(reported)} with onPart, but did not return it first. Return all that was reported, in the same order.`,
  );
}

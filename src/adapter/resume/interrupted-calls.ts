import type { ToolInvoked } from "../events.ts";
import type { StandingEvaluation } from "./standing.ts";

/** The outcome of a call before the evaluation was interrupted. */
export type CallFate =
  | { readonly state: "answered"; readonly invoked: ToolInvoked }
  | { readonly state: "started" }
  | { readonly state: "new" };

/** The fate of a call in a turn that was not interrupted. */
export const NEW_CALL: CallFate = Object.freeze({ state: "new" });

/** The calls of the last stored turn of an interrupted evaluation. */
export class InterruptedCalls {
  readonly #answered: ToolInvoked[];
  readonly #started: string[];

  constructor({ answered, started }: StandingEvaluation) {
    this.#answered = [...answered];
    this.#started = [...started];
  }

  /**
   * Returns the outcome of a call. Ask for the calls in the order of the turn, once each: a model may use
   * an id twice.
   */
  takeFate(callId: string): CallFate {
    const start = this.#started.indexOf(callId);
    if (start >= 0) this.#started.splice(start, 1);
    const answer = this.#answered.findIndex((invoked) => invoked.callId === callId);
    const [invoked] = answer >= 0 ? this.#answered.splice(answer, 1) : [];
    if (invoked) return { state: "answered", invoked };
    return start >= 0 ? STARTED : NEW_CALL;
  }
}

const STARTED: CallFate = Object.freeze({ state: "started" });

/** The model's result of a call whose outcome is not known. */
export const UNKNOWN_OUTCOME =
  "The call was started before the process was lost. Whether it took effect is not known, and it was not " +
  "started again. Check its effect before you repeat it.";

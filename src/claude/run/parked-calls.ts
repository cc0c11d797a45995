import type { BridgedAnswer } from "../tools/tool-bridge.ts";

/** Calls of our tools that the SDK waits for, and answers that it has not asked for yet. */
export class ParkedCalls {
  readonly #waiting = new Map<string, (answer: BridgedAnswer) => void>();
  readonly #answers = new Map<string, BridgedAnswer>();
  #isClosed = false;

  /** The SDK has come to a call: it gets what it is answered, now or later. */
  async arrive(callId: string): Promise<BridgedAnswer> {
    const answer = this.#answers.get(callId);
    if (answer) {
      this.#answers.delete(callId);
      return answer;
    }
    if (this.#isClosed) return ended;
    const { promise, resolve } = Promise.withResolvers<BridgedAnswer>();
    this.#waiting.set(callId, resolve);
    return await promise;
  }

  isWaiting(callId: string): boolean {
    return this.#waiting.has(callId);
  }

  answer(callId: string, answer: BridgedAnswer): void {
    const resolve = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    if (resolve) resolve(answer);
    else this.#answers.set(callId, answer);
  }

  /** Answers to calls that the SDK has refused by itself: it will not ask for them any more. */
  takeLeftOver(): readonly string[] {
    const texts = [...this.#answers.values()].map(({ text }) => text);
    this.#answers.clear();
    return texts;
  }

  /** Nobody is left waiting. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve(ended);
    this.#waiting.clear();
  }
}

const ended: BridgedAnswer = Object.freeze({ text: "The evaluation has ended.", isError: true });

import { ApiProblem } from "../api-problem.ts";

/** The conversations that responses are being created for. A conversation takes one response at a time. */
export class ConversationLocks {
  readonly #held = new Set<string>();

  /** Throws OpenAI's error if a response is being created for the conversation. */
  check(id: string): void {
    if (this.#held.has(id)) throw createLockedProblem();
  }

  /** Locks the conversation until the result is disposed. Throws if it is locked. */
  acquire(id: string): Disposable {
    this.check(id);
    this.#held.add(id);
    return { [Symbol.dispose]: () => void this.#held.delete(id) };
  }
}

/** Creates OpenAI's error for a conversation that another request is changing. */
export function createLockedProblem(): ApiProblem {
  const message =
    "Another process is currently operating on this conversation. Please retry in a few seconds.";
  return new ApiProblem(400, message, { param: "conversation", code: "conversation_locked" });
}

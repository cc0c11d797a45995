import type { ModelAction } from "../model-action.ts";
import type { CheckedMessage } from "./check/checked-message.ts";

/**
 * What a model does after a tool that runs at the provider on the other API. Here such a tool runs at
 * the client, so that the rest of the step waits for the request that brings its result.
 */
export class LeftActions {
  readonly #byCall = new Map<unknown, readonly ModelAction[]>();

  /** Keeps them until that call is answered. The oldest are forgotten when there are many. */
  keep(callId: string, actions: readonly ModelAction[]): void {
    this.#byCall.set(callId, actions);
    for (const oldest of this.#byCall.keys()) {
      if (this.#byCall.size <= MOST) break;
      this.#byCall.delete(oldest);
    }
  }

  /** Those that wait for what the last message brings, once. */
  take(messages: readonly CheckedMessage[]): readonly ModelAction[] | null {
    for (const { tool_use_id: id } of messages.at(-1)?.content ?? []) {
      const actions = this.#byCall.get(id);
      if (!actions) continue;
      this.#byCall.delete(id);
      return actions;
    }
    return null;
  }
}

const MOST = 1000;

/** A step in two: what goes into this message, and what comes after its tools have run. */
export function nowAndLater(
  actions: readonly ModelAction[],
  { searchesHere }: { readonly searchesHere: boolean },
): { readonly now: readonly ModelAction[]; readonly later: readonly ModelAction[] } {
  // Who calls the client's functions is asked again after them on either API.
  const isHandedOver = actions.some((action) => "call" in action || "patch" in action);
  const last = actions.findLastIndex(
    (action) => "code" in action || "shell" in action || (!searchesHere && "search" in action),
  );
  const end = isHandedOver || last === -1 ? actions.length : last + 1;
  return { now: actions.slice(0, end), later: actions.slice(end) };
}

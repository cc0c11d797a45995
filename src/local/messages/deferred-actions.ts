import type { ModelAction } from "../model-action.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import type { SdkToolAction } from "./sdk-tool-uses.ts";

/** The rest of a step, which waits for the result of a call. */
export interface DeferredStep {
  /** The number of the step, from 0. */
  readonly step: number;
  readonly actions: readonly ModelAction[];
  /** Whether the call loads tools for the step. If the client does not load them, the step fails. @default false */
  readonly isSearched?: boolean | undefined;
}

/**
 * Stores the actions that follow a tool call in a step. On OpenAI's API such tools run at the provider. On the
 * Messages API they run at the client, so the rest of the step waits for the request with the tool's result.
 */
export class DeferredActions {
  readonly #byCall = new Map<string, DeferredStep>();

  /** Stores the rest of a step until the call has its result. Evicts the oldest beyond 1,000 calls. */
  add(callId: string, rest: DeferredStep): void {
    this.#byCall.set(callId, rest);
    for (const oldest of this.#byCall.keys()) {
      if (this.#byCall.size <= MAX_CALLS) break;
      this.#byCall.delete(oldest);
    }
  }

  /** Removes and returns the step that waits for a result in the last message, with its call, or `null`. */
  takeAnswered(
    messages: readonly CheckedMessage[],
  ): (DeferredStep & { readonly callId: string }) | null {
    for (const { tool_use_id: id } of messages.at(-1)?.content ?? []) {
      const callId = String(id);
      const rest = this.#byCall.get(callId);
      if (!rest) continue;
      this.#byCall.delete(callId);
      return { ...rest, callId };
    }
    return null;
  }
}

const MAX_CALLS = 1000;

/** Splits a step into the actions of this message and the actions after its tools have run. */
export function splitStep(
  actions: readonly ModelAction[],
  isHosted: (action: SdkToolAction) => boolean,
): { readonly now: readonly ModelAction[]; readonly later: readonly ModelAction[] } {
  // On either API, a model that calls the client's functions is called again after them.
  const isHandedOver = actions.some(
    (action) => "call" in action || ("patch" in action && !isHosted(action)),
  );
  const last = actions.findLastIndex(
    (action) => ("code" in action || "shell" in action || "search" in action) && !isHosted(action),
  );
  const end = isHandedOver || last === -1 ? actions.length : last + 1;
  return { now: actions.slice(0, end), later: actions.slice(end) };
}

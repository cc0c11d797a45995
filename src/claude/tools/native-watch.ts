import { messageOf } from "../../base/errors.ts";
import { maybeTextAt, numberAt, recordAt, textAt } from "../../base/reading.ts";
import type { Given } from "../given.ts";
import type { ToolUse } from "../model-message.ts";

/** A call of one of the SDK's own tools that has ended. */
export interface NativeCall extends ToolUse {
  /** What it gave, in the tool's own shape. */
  readonly response: unknown;
  /** Why it failed; `null` if it did not. */
  readonly error: string | null;
  readonly durationMs: number | null;
}

/** What is done about the SDK's own tools, while it waits. */
export interface NativeHooks {
  /** Whether the SDK has a tool of that name now. */
  isOn(name: string): boolean;
  /** A reason not to run the call, or what to run it with. */
  before(
    use: ToolUse & { readonly cwd: string | undefined },
  ): Promise<{ readonly denied: string } | { readonly input?: Given }>;
  after(call: NativeCall): Promise<void>;
  /** None of them runs now: one that has not ended was not let run. */
  idle?(): void;
}

/** Follows the calls of the SDK's own tools, from its hooks: each has an end here, whoever ended it. */
export class NativeWatch {
  readonly #hooks: NativeHooks;
  /** Of the message at hand. */
  readonly #seen = new Set<string>();
  #ended: NativeCall[] = [];
  #fault: { readonly error: unknown } | null = null;

  constructor(hooks: NativeHooks) {
    this.#hooks = hooks;
  }

  /** What went wrong with us after a call: the run cannot go on. */
  get fault(): { readonly error: unknown } | null {
    return this.#fault;
  }

  isOn(name: string): boolean {
    return this.#hooks.isOn(name);
  }

  idle(): void {
    this.#hooks.idle?.();
  }

  /** What the SDK is told before it makes a call. */
  async before(input: Given): Promise<Given> {
    const cwd = maybeTextAt(input, "cwd") ?? undefined;
    const decided = await this.#decided({ ...useOf(input), cwd });
    const hookEventName = "PreToolUse";
    if ("denied" in decided) {
      const permissionDecisionReason = decided.denied;
      const denial = { hookEventName, permissionDecision: "deny", permissionDecisionReason };
      return { hookSpecificOutput: denial };
    }
    if (!decided.input) return {};
    return { hookSpecificOutput: { hookEventName, updatedInput: decided.input } };
  }

  /** A call has ended, well or not. */
  async after(input: Given): Promise<void> {
    const response = input["tool_response"] ?? null;
    const durationMs = numberAt(input, "duration_ms");
    await this.#end({ ...useOf(input), response, error: failureIn(input), durationMs });
  }

  /** All calls of a message are over: one that was not let run has no end of its own. */
  async batchEnded(calls: readonly Given[]): Promise<void> {
    for (const call of calls) {
      const use = useOf(call);
      if (!this.isOn(use.name) || this.#seen.has(use.id)) continue;
      const words = call["tool_response"];
      const error = typeof words === "string" ? words : "It was not run";
      await this.#end({ ...use, response: null, error, durationMs: null });
    }
    this.#seen.clear();
  }

  /**
   * What has ended since it was last asked. Calls that only read run side by side, and end as they
   * may: they come in the model's order, after those of an earlier message.
   */
  take(uses: readonly ToolUse[]): readonly NativeCall[] {
    const place = ({ id }: ToolUse) => uses.findIndex((use) => use.id === id);
    const calls = this.#ended.sort((one, two) => place(one) - place(two));
    this.#ended = [];
    return calls;
  }

  /** What cannot be judged is not run. */
  async #decided(use: Parameters<NativeHooks["before"]>[0]) {
    try {
      return await this.#hooks.before(use);
    } catch (error) {
      return { denied: messageOf(error) };
    }
  }

  async #end(call: NativeCall): Promise<void> {
    this.#seen.add(call.id);
    this.#ended.push(call);
    try {
      await this.#hooks.after(call);
    } catch (error) {
      this.#fault ??= { error };
    }
  }
}

/** The call that a hook is about. */
export function useOf(input: Given): ToolUse {
  return {
    id: textAt(input, "tool_use_id"),
    name: textAt(input, "tool_name"),
    input: recordAt(input, "tool_input"),
  };
}

/** Why a call failed; `null` if it did not. */
export function failureIn(input: Given): string | null {
  return input["hook_event_name"] === "PostToolUseFailure" ? textAt(input, "error") : null;
}

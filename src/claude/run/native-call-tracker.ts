import { messageOf } from "../../base/errors.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { maybeTextAt, numberAt, recordAt, textAt } from "../../base/reading.ts";
import type { SandboxLeftovers } from "../sandbox/prepare-sandbox.ts";
import type { NativeTools } from "../tools/native-tools.ts";
import type { ToolUse } from "./model-message.ts";
import type { NativeRollback } from "./rollback.ts";
import type { NativeCall, RunInput } from "./run-state.ts";

/** What is done around calls of the SDK's own tools, while the SDK waits. */
export interface NativeHooks {
  /** Whether the SDK has a tool of that name in this run. */
  isOn(name: string): boolean;
  /** Returns why a call is refused, or the input to run it with. */
  before(
    use: ToolUse & { readonly cwd: string | undefined },
  ): Promise<{ readonly denied: string } | { readonly input?: UnknownRecord }>;
  after(call: NativeCall): Promise<void>;
  /** Called when no call runs: one that has not ended was not allowed to run. */
  idle?(): void;
}

/** Creates the hooks of a run: a call is judged, prepared for a rollback, and cleaned up after. */
export function createNativeHooks(
  native: NativeTools,
  around: {
    readonly rollback: NativeRollback | null;
    readonly leftovers: SandboxLeftovers | null;
  },
): NativeHooks {
  const { rollback, leftovers } = around;
  return {
    isOn: (name) => native.isOn(name),
    async before(use) {
      const verdict = await native.before(use);
      if (!("denied" in verdict)) await rollback?.before(use.id, use.name);
      return verdict;
    },
    async after({ id, name, error }) {
      // Before anything else looks at the folder: our own tools, or the rollback.
      if (name === "Bash") await leftovers?.remove();
      await rollback?.after(id, error !== null);
    },
    idle: () => rollback?.idle(),
  };
}

/** Follows calls of the SDK's own tools through its hooks. Each call ends once, whoever ended it. */
export class NativeCallTracker {
  readonly #hooks: NativeHooks;
  readonly #dispatch: (input: RunInput) => void;

  constructor(hooks: NativeHooks, dispatch: (input: RunInput) => void) {
    this.#hooks = hooks;
    this.#dispatch = dispatch;
  }

  isOn(name: string): boolean {
    return this.#hooks.isOn(name);
  }

  idle(): void {
    this.#hooks.idle?.();
  }

  /** Decides about a call and returns the hook's output. A call that cannot be judged is denied. */
  async before(input: UnknownRecord): Promise<UnknownRecord> {
    const cwd = maybeTextAt(input, "cwd") ?? undefined;
    try {
      const verdict = await this.#hooks.before({ ...readUse(input), cwd });
      if ("denied" in verdict) return deny(verdict.denied);
      if (!verdict.input) return {};
      return { hookSpecificOutput: { hookEventName, updatedInput: verdict.input } };
    } catch (error) {
      return deny(messageOf(error));
    }
  }

  /** Ends a call that succeeded or failed. */
  async after(input: UnknownRecord): Promise<void> {
    const response = input["tool_response"] ?? null;
    const durationMs = numberAt(input, "duration_ms");
    await this.#end({ ...readUse(input), response, error: readError(input), durationMs });
  }

  /** Ends the calls of a batch that have not ended: the SDK did not allow them to run. */
  async endBatch(calls: readonly UnknownRecord[], settled: ReadonlySet<string>): Promise<void> {
    for (const call of calls) {
      const use = readUse(call);
      if (!this.isOn(use.name) || settled.has(use.id)) continue;
      const words = call["tool_response"];
      const error = typeof words === "string" ? words : "It was not run";
      await this.#end({ ...use, response: null, error, durationMs: null });
    }
  }

  async #end(call: NativeCall): Promise<void> {
    this.#dispatch({ type: "nativeEnded", call });
    try {
      await this.#hooks.after(call);
    } catch (error) {
      this.#dispatch({ type: "faulted", error });
    }
  }
}

/** Reads the call that a hook is about. */
export function readUse(input: UnknownRecord): ToolUse {
  return {
    id: textAt(input, "tool_use_id"),
    name: textAt(input, "tool_name"),
    input: recordAt(input, "tool_input"),
  };
}

/** Reads why a call failed; `null` if it succeeded. */
export function readError(input: UnknownRecord): string | null {
  return input["hook_event_name"] === "PostToolUseFailure" ? textAt(input, "error") : null;
}

const hookEventName = "PreToolUse";

function deny(permissionDecisionReason: string): UnknownRecord {
  const permissionDecision = "deny";
  return { hookSpecificOutput: { hookEventName, permissionDecision, permissionDecisionReason } };
}

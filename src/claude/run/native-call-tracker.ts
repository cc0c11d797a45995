import type { ApprovableCall } from "../../adapter/approvals/approvable-call.ts";
import type { Verdict as ApprovalVerdict } from "../../adapter/approvals/decide-approval.ts";
import { getErrorMessage } from "../../base/errors.ts";
import {
  readNumber,
  readRecord,
  readString,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import type { SandboxLeftovers } from "../sandbox/prepare-sandbox.ts";
import type { NativeTools } from "../tools/native-tools.ts";
import type { ToolUse } from "./model-message.ts";
import type { NativeRollback } from "./native-rollback.ts";
import type { NativeCall, RunInput } from "./run-state.ts";

/** Callbacks around calls to the SDK's native tools. The SDK waits for them. */
export interface NativeHooks {
  /** Whether a native tool is enabled in this run. */
  isEnabled(name: string): boolean;
  /** Returns why a call is denied, or the input to run it with. */
  beforeCall(
    use: ToolUse & { readonly cwd: string | undefined },
  ): Promise<{ readonly denied: string } | { readonly input?: UnknownRecord }>;
  /** Called when a call has succeeded or failed. */
  afterCall(call: NativeCall): Promise<void>;
  /** Called when no native call is running. Calls without a result were not allowed to run. */
  onIdle?(): void;
}

/** Creates the callbacks of a run: they check a call, prepare its rollback, and clean up after it. */
export function createNativeHooks(
  native: NativeTools,
  around: {
    readonly rollback: NativeRollback | null;
    readonly leftovers: SandboxLeftovers | null;
    /** Decides about a call that needs approval. */
    decideCall(call: ApprovableCall): Promise<ApprovalVerdict>;
  },
): NativeHooks {
  const { rollback, leftovers } = around;
  return {
    isEnabled: (name) => native.isEnabled(name),
    async beforeCall(use) {
      const verdict = await native.beforeCall(use);
      if ("denied" in verdict) return verdict;
      const approvable = native.findApproval(use);
      const approval = approvable && (await around.decideCall({ ...approvable, callId: use.id }));
      if (approval?.kind === "denied") return { denied: approval.message };
      if (approval?.kind === "parked") return { denied: WAITS_FOR_APPROVAL };
      await rollback?.beforeCall(use.id, use.name);
      return verdict;
    },
    async afterCall({ id, name, error }) {
      // First, so that neither the rollback nor the prompt's tools see the leftovers.
      if (name === "Bash") await leftovers?.remove();
      await rollback?.afterCall(id, error !== null);
    },
    onIdle: () => rollback?.onIdle(),
  };
}

/** The model reads it in the transcript when the evaluation is resumed. */
const WAITS_FOR_APPROVAL =
  "The call was not made yet: it waits for approval, and the run stops now. When it continues, make the same " +
  "call again, unchanged: then it is approved or denied.";

/** Tracks calls to the SDK's native tools through its hooks. Each call ends exactly once. */
export class NativeCallTracker {
  readonly #hooks: NativeHooks;
  readonly #dispatch: (input: RunInput) => void;

  constructor(hooks: NativeHooks, dispatch: (input: RunInput) => void) {
    this.#hooks = hooks;
    this.#dispatch = dispatch;
  }

  isEnabled(name: string): boolean {
    return this.#hooks.isEnabled(name);
  }

  onIdle(): void {
    this.#hooks.onIdle?.();
  }

  /** Allows or denies a call and returns the hook's output. An error denies the call. */
  async beforeCall(input: UnknownRecord): Promise<UnknownRecord> {
    const cwd = readStringOrNull(input, "cwd") ?? undefined;
    try {
      const verdict = await this.#hooks.beforeCall({ ...readToolUse(input), cwd });
      if ("denied" in verdict) return deny(verdict.denied);
      if (!verdict.input) return {};
      return { hookSpecificOutput: { hookEventName, updatedInput: verdict.input } };
    } catch (error) {
      return deny(getErrorMessage(error));
    }
  }

  /** Records a call that succeeded or failed. */
  async afterCall(input: UnknownRecord): Promise<void> {
    const response = input["tool_response"] ?? null;
    const durationMs = readNumber(input, "duration_ms");
    await this.#endCall({ ...readToolUse(input), response, error: readError(input), durationMs });
  }

  /** Records calls that the SDK reports with a batch but did not run, because its rules denied them. */
  async endBatch(calls: readonly UnknownRecord[], settled: ReadonlySet<string>): Promise<void> {
    for (const call of calls) {
      const use = readToolUse(call);
      if (!this.isEnabled(use.name) || settled.has(use.id)) continue;
      const response = call["tool_response"];
      const error = typeof response === "string" ? response : "The call was not run";
      await this.#endCall({ ...use, response: null, error, durationMs: null });
    }
  }

  async #endCall(call: NativeCall): Promise<void> {
    this.#dispatch({ type: "nativeCallEnded", call });
    try {
      await this.#hooks.afterCall(call);
    } catch (error) {
      this.#dispatch({ type: "faulted", error });
    }
  }
}

/** Reads the tool call from a hook's input. */
export function readToolUse(input: UnknownRecord): ToolUse {
  return {
    id: readString(input, "tool_use_id"),
    name: readString(input, "tool_name"),
    input: readRecord(input, "tool_input"),
  };
}

/** Reads a failed call's error from a hook's input; `null` if the call succeeded. */
export function readError(input: UnknownRecord): string | null {
  return input["hook_event_name"] === "PostToolUseFailure" ? readString(input, "error") : null;
}

const hookEventName = "PreToolUse";

function deny(permissionDecisionReason: string): UnknownRecord {
  const permissionDecision = "deny";
  return { hookSpecificOutput: { hookEventName, permissionDecision, permissionDecisionReason } };
}

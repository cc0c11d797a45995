import type { HostedCall } from "../../adapter/model-client.ts";
import type { Refusal } from "../../base/errors.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Bounds, Verdict } from "../workspace/bounds.ts";

/** The name of an SDK tool that the adapter can switch on. */
export type NativeName = "Read" | "Glob" | "Grep" | "Write" | "Edit" | "Bash" | "WebSearch";

/** What the adapter does with one kind of hosted tool. */
export interface HostedKind {
  readonly kind: string;
  /** The factory or section that creates such a tool, as the guide names it. */
  readonly madeBy: string;
  /** The SDK tools that it switches on. Empty if the kind is refused. */
  readonly tools: readonly NativeName[];
  /** For the guide: what it does on Claude, or why it is refused. */
  readonly becomes: string;
  /** For the guide: which settings are refused, or what to use instead. */
  readonly refused: string;
  /** Whether the prompt must have a workspace. @default false */
  readonly needsWorkspace?: boolean | undefined;
  /** Lists what the SDK cannot do for a tool. Throws if its config is invalid. @default nothing */
  findObstacles?(tool: HostedTool): readonly (Obstacle | false)[];
}

/** Something about a hosted tool that the SDK cannot do. */
export interface Obstacle extends Refusal {
  /** The tool works without the setting, so `"omit"` drops the setting and keeps the tool. @default false */
  readonly isDroppable?: boolean | undefined;
}

/** How the adapter supervises one of the SDK's own tools. */
export interface NativeTool {
  readonly name: NativeName;
  /** It changes nothing. The permission mode `"plan"` switches on only such tools. */
  readonly isReadOnly: boolean;
  /** It works on workspace files, so it stays off without a workspace. */
  readonly needsWorkspace: boolean;
  /** Returns the input to run a call with, or why the call is refused. */
  judge(use: JudgedUse): Verdict | Promise<Verdict>;
  /** Summarizes a successful call for events. Unused if there is a log. */
  describe?(input: UnknownRecord, response: UnknownRecord): string;
  /** Creates what collects the calls of one evaluation into a typed output. @default no typed output */
  createLog?(): CallLog;
}

/** A call that the model wants to make. */
export interface JudgedUse {
  /** The prompt's hosted tool that the call belongs to. */
  readonly owner: HostedTool;
  readonly input: UnknownRecord;
  /** `null` without a workspace. */
  readonly bounds: Bounds | null;
}

/** Collects the calls of one SDK tool during an evaluation. */
export interface CallLog {
  /** Adds a call that has ended and returns its parts of a `HostedCall`. */
  add(
    id: string,
    input: UnknownRecord,
    ended: { readonly response: unknown; readonly error: string | null },
  ): Pick<HostedCall, "params" | "output" | "success" | "message">;
  /** Returns the typed output of all calls, with what `text` cites; `null` without calls. */
  result(text: string): { readonly citations: readonly Citation[] } | null;
}

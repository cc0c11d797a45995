import type { HostedCall } from "../../adapter/model-client.ts";
import type { Refusal } from "../../base/errors.ts";
import type { UnknownRecord } from "../../base/json.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Bounds, Verdict } from "../workspace/bounds.ts";

/** Names of the SDK tools that the adapter can enable. */
export type NativeName = "Read" | "Glob" | "Grep" | "Write" | "Edit" | "Bash" | "WebSearch";

/** The adapter's support for one kind of hosted tool. */
export interface HostedKind {
  readonly kind: string;
  /** For the guide: the factory or section that creates the tool. */
  readonly createdBy: string;
  /** The SDK tools that the kind enables. Empty if the kind is not supported. */
  readonly tools: readonly NativeName[];
  /** For the guide: how the kind works on Claude, or why it is not supported. */
  readonly behavior: string;
  /** For the guide: unsupported settings, or the alternative. */
  readonly unsupported: string;
  /** Whether the prompt must have a workspace. @default false */
  readonly needsWorkspace?: boolean | undefined;
  /** Lists a tool's settings that the SDK does not support. Throws if its config is invalid. */
  findObstacles?(tool: HostedTool): readonly (Obstacle | false)[];
}

/** A reason why the SDK cannot run a hosted tool as configured. */
export interface Obstacle extends Refusal {
  /** Whether `"omit"` drops only the setting and keeps the tool. @default false */
  readonly isDroppable?: boolean | undefined;
}

/** How the adapter controls a native tool of the SDK. */
export interface NativeTool {
  readonly name: NativeName;
  /** Whether the tool only reads. The permission mode `"plan"` enables only read-only tools. */
  readonly isReadOnly: boolean;
  /** Whether the tool works on workspace files, so that it is disabled without a workspace. */
  readonly needsWorkspace: boolean;
  /** The input's field with code, a command or file content, which streams show. @default none */
  readonly codeField?: string | undefined;
  /** Returns the input to run a call with, or why the call is denied. */
  judge(use: JudgedUse): Verdict | Promise<Verdict>;
  /** Returns the params of the hosted tool's call, for its approval. @default the input */
  toParams?(input: UnknownRecord): object;
  /** Summarizes a successful call for events. Unused if the tool has a log. */
  describe?(input: UnknownRecord, response: UnknownRecord): string;
  /** Creates a log that turns the calls in an evaluation into a typed output. @default no output */
  createLog?(): CallLog;
}

/** How calls to a native tool are reported while they run. */
export interface ReportedTool {
  /** Kind of the prompt's hosted tool that owns the calls. */
  readonly kind: string;
  /** The input's field with code, a command or file content. */
  readonly codeField: string | undefined;
}

/** A requested call to a native tool. */
export interface JudgedUse {
  /** The prompt's hosted tool that the call belongs to. */
  readonly owner: HostedTool;
  readonly input: UnknownRecord;
  /** The folders that file tools may use; `null` without a workspace. */
  readonly bounds: Bounds | null;
}

/** Collects the calls to an SDK tool during an evaluation. */
export interface CallLog {
  /** Adds an ended call and returns its part of a `HostedCall`. */
  add(
    id: string,
    input: UnknownRecord,
    ended: { readonly response: unknown; readonly error: string | null },
  ): Pick<HostedCall, "params" | "output" | "success" | "message">;
  /** Returns the typed output of all calls, with the citations in `text`; `null` without calls. */
  toResult(text: string): { readonly citations: readonly Citation[] } | null;
}

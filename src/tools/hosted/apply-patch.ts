import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { checkKeys } from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import { checkNeedsApproval } from "../tool.ts";
import type { NeedsApproval } from "../tool-context.ts";

/** The apply-patch tool has no settings. */
export type ApplyPatchConfig = Readonly<Record<string, never>>;

/** Objects that the adapter needs to apply patches locally. */
export interface ApplyPatchLive {
  /** File system to patch. */
  readonly filesystem: Filesystem;
  /** Whether a call waits for approval. */
  readonly needsApproval: NeedsApproval<ApplyPatchParams>;
}

/** A change of a file that the model requests. */
export interface ApplyPatchParams {
  /** Kind of change: `"create"`, `"update"` or `"delete"`. */
  readonly operation: string;
  /** Path of the file, relative to the file system's root. */
  readonly path: string;
  /**
   * The change in V4A format; omitted for a deletion. On Claude, the removed text and the added text, with `-` and `+`
   * before each line.
   */
  readonly diff?: string | undefined;
  /** Whether every occurrence of the removed text changes. Only on Claude. @default false */
  readonly replaceAll?: boolean | undefined;
}

/** The outcome of all patches of an evaluation. */
export interface ApplyPatchResult {
  /** Every patch call, in order. */
  readonly calls: readonly ApplyPatchCall[];
}

/** One file operation that the model requested. */
export interface ApplyPatchCall {
  /** Provider's id of the call. */
  readonly callId: string;
  /** Kind of change. */
  readonly operation: "create" | "update" | "delete";
  /** Path of the file, relative to the file system's root. */
  readonly path: string;
  /** Whether the patch was applied. If `false`, no file was changed. */
  readonly success: boolean;
  /** Message sent to the model. */
  readonly message: string;
}

/** Options of {@link applyPatchTool}. */
export interface ApplyPatchToolOptions {
  /** Unique within a prompt. @default "apply_patch" */
  readonly name?: string | undefined;
  /** File system to patch. @default the prompt's workspace */
  readonly filesystem?: Filesystem | undefined;
  /** Whether a patch waits for approval: `approve` of `evaluate` decides. @default false */
  readonly needsApproval?: NeedsApproval<ApplyPatchParams> | undefined;
}

const optionKeys: KnownKeys<ApplyPatchToolOptions> = {
  filesystem: true,
  name: true,
  needsApproval: true,
};

/**
 * Creates a tool that lets the model change files with patches. They are applied locally, one call
 * at a time.
 */
export function applyPatchTool(
  config: ApplyPatchConfig = {},
  options: ApplyPatchToolOptions = {},
): HostedTool<ApplyPatchConfig, ApplyPatchResult, ApplyPatchLive> {
  checkKnownKeys(options, "applyPatchTool(options)", optionKeys, PromptValidationError);
  const { name = "apply_patch", filesystem } = options;
  checkKeys<ApplyPatchConfig>(config, "applyPatchTool(config)", {});
  checkFilesystem(filesystem);
  const needsApproval = checkNeedsApproval(
    options.needsApproval,
    "applyPatchTool(options).needsApproval",
  );
  return markChecked(
    new HostedTool({
      kind: "apply_patch",
      name,
      description: "Create, update and delete files with patches.",
      config,
      live: { ...(filesystem && { filesystem }), needsApproval },
    }),
  );
}

function checkFilesystem(filesystem: Filesystem | undefined): void {
  if (filesystem === undefined) return;
  const parts = [filesystem?.readText, filesystem?.writeText, filesystem?.delete];
  if (parts.every((part) => typeof part === "function")) return;
  throw new PromptValidationError({
    field: "applyPatchTool(options).filesystem",
    value: filesystem,
    rule: "must be a Filesystem",
    remedy: "pass one, or omit it for the prompt's workspace",
  });
}

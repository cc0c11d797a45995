import { PromptValidationError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { checkKeys } from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";

/** There is nothing to configure. */
export type ApplyPatchConfig = Readonly<Record<string, never>>;

/** What the adapter needs to apply patches here. */
export interface ApplyPatchLive {
  readonly filesystem: Filesystem;
}

/** What became of all patches of an evaluation. */
export interface ApplyPatchResult {
  readonly calls: readonly ApplyPatchCall[];
}

/** One file that the model changed, or tried to. */
export interface ApplyPatchCall {
  readonly callId: string;
  readonly operation: "create" | "update" | "delete";
  readonly path: string;
  /** `false`: nothing was changed. */
  readonly success: boolean;
  /** What the model was told. */
  readonly message: string;
}

export interface ApplyPatchToolOptions {
  /** @default "apply_patch" */
  readonly name?: string | undefined;
  /** Where the files are. @default the prompt's workspace */
  readonly filesystem?: Filesystem | undefined;
}

/** A tool by which the model changes files with patches. They are applied here, a call at a time. */
export function applyPatchTool(
  config: ApplyPatchConfig = {},
  { name = "apply_patch", filesystem }: ApplyPatchToolOptions = {},
): HostedTool<ApplyPatchConfig, ApplyPatchResult, ApplyPatchLive> {
  checkKeys<ApplyPatchConfig>(config, "applyPatchTool(config)", {});
  checkFilesystem(filesystem);
  return markChecked(
    new HostedTool({
      kind: "apply_patch",
      name,
      description: "Create, update and delete files with patches.",
      config,
      live: filesystem && { filesystem },
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
    remedy: "give one, or leave it out for the prompt's workspace",
  });
}

import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { HostedKind } from "./hosted-kind.ts";

/** The kind `apply_patch`: the SDK's `Write` and `Edit` change workspace files. */
export const patchKind: HostedKind = {
  kind: "apply_patch",
  createdBy: "`applyPatchTool`",
  tools: ["Write", "Edit"],
  behavior: "writes and edits workspace files, never deletes them; events, no typed output",
  unsupported: "a prompt without `ClaudeAgentWorkspaceSection`; `filesystem`",
  needsWorkspace: true,
  findObstacles(tool) {
    checkWithFactory(tool, () => applyPatchTool({ ...tool.config }));
    const filesystem = "filesystem" in tool.live ? tool.live.filesystem : undefined;
    return [
      filesystem !== undefined && {
        field: `Hosted tool "${tool.name}" filesystem`,
        value: filesystem,
        rule: "must be omitted on Claude, which edits only workspace files",
        remedy: "omit it, and mount the files with a ClaudeAgentWorkspaceSection",
      },
    ];
  },
};

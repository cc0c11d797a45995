import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { HostedKind } from "./hosted-kind.ts";

/** The kind `apply_patch`: the SDK's `Write` and `Edit` change the files of the workspace. */
export const patchKind: HostedKind = {
  kind: "apply_patch",
  madeBy: "`applyPatchTool`",
  tools: ["Write", "Edit"],
  becomes: "files of the workspace are written and edited, not deleted; events, no typed output",
  refused: "a prompt without `ClaudeAgentWorkspaceSection`; `filesystem`",
  needsWorkspace: true,
  findObstacles(tool) {
    checkedConfig(tool, () => applyPatchTool({ ...tool.config }));
    const filesystem = "filesystem" in tool.live ? tool.live.filesystem : undefined;
    return [
      filesystem !== undefined && {
        field: `Hosted tool "${tool.name}" filesystem`,
        value: filesystem,
        rule: "must be left out on Claude, which edits the files of its workspace",
        remedy: "leave it out",
      },
    ];
  },
};

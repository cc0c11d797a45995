import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { HostedKind } from "./hosted-kind.ts";
import { findContainerObstacles, toContainerObstacle } from "./shell.ts";

/** The kind `code_interpreter`: the SDK's `Bash` runs the code in the workspace. */
export const codeKind: HostedKind = {
  kind: "code_interpreter",
  createdBy: "`codeInterpreterTool`",
  tools: ["Bash"],
  behavior:
    "like `shell`, which owns the calls if the prompt has both; any installed language; events, no typed output; `timeoutSeconds` has no effect",
  unsupported:
    'an existing container, `fileIds`, `hostMounts`, `networkPolicy`; `memoryLimit` (`"omit"` drops only the setting)',
  findObstacles(tool) {
    const { config } = checkWithFactory(tool, () => codeInterpreterTool(tool.config));
    const { container } = config;
    const field = `Hosted tool "${tool.name}" config.container`;
    if (container === undefined) return [];
    if (!("type" in container)) return [toContainerObstacle(`${field}.id`, container.id)];
    return findContainerObstacles(container, field);
  },
};

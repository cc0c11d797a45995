import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { HostedKind } from "./hosted-kind.ts";
import { findContainerObstacles, refuseContainer } from "./shell.ts";

/** The kind `code_interpreter`: code runs as commands of the SDK's `Bash`, in the workspace. */
export const codeKind: HostedKind = {
  kind: "code_interpreter",
  madeBy: "`codeInterpreterTool`",
  tools: ["Bash"],
  becomes:
    "as `shell`, whose calls they are if the prompt has both; any language that is installed; events, no typed output",
  refused:
    'an existing container, `fileIds`, `hostMounts`, `networkPolicy`; `memoryLimit`, which `"omit"` only drops',
  findObstacles(tool) {
    const { config } = checkedConfig(tool, () => codeInterpreterTool(tool.config));
    const { container } = config;
    const field = `Hosted tool "${tool.name}" config.container`;
    if (container === undefined) return [];
    if (!("type" in container)) return [refuseContainer(`${field}.id`, container.id)];
    return findContainerObstacles(container, field);
  },
};

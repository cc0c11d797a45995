import { spawnSync } from "node:child_process";
import type { Shell } from "../../../src/cli/completion/format-completion.ts";

/** Whether a shell is installed. */
export function hasShell(shell: Shell): boolean {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0;
}

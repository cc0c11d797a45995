import type { Changed } from "../turn/ports.ts";
import type { TurnState } from "../turn/turn.ts";

/** Files that a run made can be cited by what is said after it. */
export function addFiles(state: TurnState, containerId: string, files: Changed["files"]): void {
  for (const { id, path } of files) state.files.push({ id, path, containerId });
}

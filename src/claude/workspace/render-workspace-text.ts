import { describeMounts } from "../../files/mounts/describe-mounts.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";

/** Renders the workspace's text for the model. */
export function renderWorkspaceText({ files, previews }: MountPlan): string {
  return [files.length === 0 ? EMPTY : FILLED, ...describeMounts(previews)].join("\n");
}

const FILLED = "These files are in your working folder, and paths are relative to it.";
const EMPTY = "Your working folder is empty at first, and paths are relative to it.";

import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { Section } from "../section.ts";

/** A section with files: tools find them as `context.filesystem`. */
export interface WorkspaceSection extends Section {
  readonly filesystem: Filesystem;
}

/** Whether a section is a workspace, whichever provider it is for. */
export function isWorkspace(section: Section): section is WorkspaceSection {
  if (!("filesystem" in section)) return false;
  const { filesystem } = section;
  return typeof filesystem === "object" && filesystem !== null && "readBytes" in filesystem;
}

import { describeMounts } from "../../files/mounts/describe-mounts.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { ReplacedFiles } from "./container-lifecycle.ts";
import { PATHS_FILE, unpackSnippet } from "./python-snippets.ts";
import type { Unpack } from "./unpack.ts";

/** Returns the text that describes the files to the model. */
export function workspaceText(plan: MountPlan, unpack: Unpack, archive: string): string {
  const text = [
    createIntroduction(plan, unpack),
    ...describeMounts(plan.previews),
    ...createUnpackInstructions(unpack, archive),
  ];
  return text.filter((line) => line !== "").join("\n");
}

/** Returns the text for the model when the files could not be unpacked. */
export function flatText(): string {
  return `The files of the workspace are not in folders: each was uploaded under a separate name. ${describePathsFile()}`;
}

/** Returns the note for the model when its container was replaced. */
export function replacementNote(replaced: ReplacedFiles): string {
  const { isFlat } = replaced;
  const files = describeRestoredFiles(replaced);
  const where = isFlat ? ` The newest /mnt/data/*-${PATHS_FILE} lists where each file is now.` : "";
  return `The container was replaced by a new one. ${files}${where} Variables, imports and processes of earlier code are lost.`;
}

/** Returns the note for the model when files that an earlier process had could not be restored. */
export function notRestoredNote(files: readonly SyncFailure[]): string {
  const names = listNames(files.map(({ path }) => path));
  return `These files of the workspace could not be restored as they were and are lost: ${names}.`;
}

function listNames(paths: readonly string[]): string {
  const names = paths.slice(0, MAX_NAMES).map((path) => JSON.stringify(path.slice(0, 200)));
  const others = paths.length - MAX_NAMES;
  return `${names.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

function describeRestoredFiles(replaced: ReplacedFiles): string {
  const { isStale, lostEntries, hasUnlistedChanges } = replaced;
  if (!isStale && !hasUnlistedChanges && lostEntries.length === 0)
    return "The files are unchanged.";
  return [
    isStale
      ? "The files were restored to their last saved state; later changes by code are lost."
      : "The files were restored.",
    hasUnlistedChanges ? "File modes, empty folders and symlinks that code made are lost." : "",
    lostEntries.length > 0
      ? `These entries could not be restored and are lost: ${listNames(lostEntries)}.`
      : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** The most lost entries that a note names. */
const MAX_NAMES = 20;

function createIntroduction({ files }: MountPlan, unpack: Unpack): string {
  if (files.length === 0)
    return "Code runs in a container. Its folder, /mnt/data, is empty at first.";
  if (unpack === "files")
    return `These files are in the container that code runs in. ${describePathsFile()}`;
  return "These files are in the container that code runs in, below /mnt/data. Read and change them there with Python.";
}

function describePathsFile(): string {
  return `The newest /mnt/data/*-${PATHS_FILE} is a JSON object that maps each path of the workspace to the file's location. Change a file at that location, and create new files below /mnt/data.`;
}

function createUnpackInstructions(unpack: Unpack, archive: string): readonly string[] {
  if (unpack !== "prompt") return [];
  return [
    "They are packed in an archive. First, run this Python once, unmodified:",
    "",
    "```python",
    unpackSnippet(archive),
    "```",
  ];
}

import { literalTemplate, mountLines } from "../../files/mounts/mount-text.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import type { ReplacedFiles } from "./container-lifecycle.ts";
import type { Unpack } from "./placement.ts";
import { PATHS_FILE, unpackSnippet } from "./python-snippets.ts";

/** What the model reads about its files; a template, in which `$$` is a dollar. */
export function workspaceText(plan: MountPlan, unpack: Unpack, archive: string): string {
  const text = [opening(plan, unpack), ...mountLines(plan.previews), ...ending(unpack, archive)];
  return literalTemplate(text.filter((line) => line !== ""));
}

/** What it reads where the files could not be unpacked. */
export function flatText(): string {
  return `The files of the workspace are not in folders: each was uploaded under a name of its own. ${whereFlat()}`;
}

/** What it reads when its container was replaced. */
export function replacedNote({ isStale, isFlat }: ReplacedFiles): string {
  const files = isStale
    ? "The files are as they were when they were last saved; changes that code made since are gone."
    : "The files are as they were.";
  const where = isFlat ? ` Where each is now says the newest /mnt/data/*-${PATHS_FILE}.` : "";
  return `The container was replaced by a new one. ${files}${where} Variables, imports and processes of earlier code are gone.`;
}

function opening({ files }: MountPlan, unpack: Unpack): string {
  if (files.length === 0)
    return "Code runs in a container. Its folder, /mnt/data, is empty at first.";
  if (unpack === "files")
    return `These files are in the container that code runs in. ${whereFlat()}`;
  return "These files are in the container that code runs in, below /mnt/data. Read and change them there with Python.";
}

function whereFlat(): string {
  return `The newest /mnt/data/*-${PATHS_FILE} is a JSON object that gives, for each path of the workspace, where the file is; change a file there, and make new ones below /mnt/data.`;
}

function ending(unpack: Unpack, archive: string): readonly string[] {
  if (unpack !== "prompt") return [];
  return [
    "They are packed in an archive. Before anything else, run this Python once, exactly as it is:",
    "",
    "```python",
    unpackSnippet(archive),
    "```",
  ];
}

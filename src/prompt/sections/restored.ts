import type { Filesystem } from "../../files/filesystem/filesystem.ts";

const restored = new WeakSet<Filesystem>();

/** Marks a file system whose files are restored when an evaluation is resumed, as they were before a lost call. */
export function markRestored(filesystem: Filesystem): void {
  restored.add(filesystem);
}

/** Returns whether a lost call can run again on these files, because its changes are not in them. */
export function isRestored(filesystem: Filesystem): boolean {
  return restored.has(filesystem);
}

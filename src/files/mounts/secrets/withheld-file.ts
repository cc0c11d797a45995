import { ROOT } from "../../path.ts";
import type { HostMountPreview } from "../host-mount-preview.ts";

/** A planned file that was not copied. */
export interface WithheldFile {
  /** The path in the workspace. */
  readonly path: string;
  /** Why it was not copied, such as `contains a private key`. */
  readonly reason: string;
}

/** Returns the previews with files that were withheld when they were copied. `findBytes` returns a file's size. */
export function withWithheld(
  previews: readonly HostMountPreview[],
  withheld: readonly WithheldFile[],
  findBytes: (path: string) => number,
): readonly HostMountPreview[] {
  return Object.freeze(previews.map((preview) => withholdFrom(preview, withheld, findBytes)));
}

function withholdFrom(
  preview: HostMountPreview,
  all: readonly WithheldFile[],
  findBytes: (path: string) => number,
): HostMountPreview {
  const { mountPath, files, bytes, entries, withheld, skipped, skippedCount } = preview;
  const prefix = mountPath === ROOT ? "" : `${mountPath}/`;
  const here = all.filter(({ path }) => path === mountPath || path.startsWith(prefix));
  if (here.length === 0) return preview;
  const isFile = here.some(({ path }) => path === mountPath); // the mount is one file, listed by its name
  const listed = here.map(({ path, reason }) => ({
    path: isFile ? (entries[0] ?? path) : path.slice(prefix.length),
    reason,
  }));
  const names = new Set(listed.map(({ path }) => path));
  return Object.freeze({
    ...preview,
    files: files - here.length,
    bytes: here.reduce((rest, { path }) => rest - findBytes(path), bytes),
    entries: Object.freeze(entries.filter((path) => !names.has(path))),
    withheld: Object.freeze([...withheld, ...names]),
    skipped: Object.freeze([...listed, ...skipped]),
    skippedCount: skippedCount + here.length,
  });
}

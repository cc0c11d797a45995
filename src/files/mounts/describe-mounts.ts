import type { HostMountPreview } from "./host-mount-preview.ts";

/** Describes mounts for the model, one line each: the number of files, their size and the first names. */
export function describeMounts(previews: readonly HostMountPreview[]): readonly string[] {
  return previews.map(describeMount);
}

function describeMount({ mountPath, files, bytes, entries, truncated }: HostMountPreview): string {
  const shown = entries.slice(0, MAX_NAMES);
  const more = files - shown.length;
  const rest = more > 0 || truncated ? `, … and ${more.toLocaleString("en-US")} more` : "";
  const size = `${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}, ${bytes.toLocaleString("en-US")} bytes`;
  const names = shown.map((name) => JSON.stringify(name)).join(", ");
  return `- ${JSON.stringify(mountPath)}: ${size}${names === "" ? "" : `: ${names}${rest}`}`;
}

const MAX_NAMES = 10;

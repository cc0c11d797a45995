import type { HostMountPreview } from "./mount-preview.ts";

/** What the model reads about mounts, a line each: how much there is, and the first names. */
export function mountLines(previews: readonly HostMountPreview[]): readonly string[] {
  return previews.map(mountLine);
}

/** Lines as the template of a section, in which `$$` is a dollar. */
export function literalTemplate(lines: readonly string[]): string {
  return lines.join("\n").replaceAll("$", "$$$$");
}

function mountLine({ mountPath, files, bytes, entries, truncated }: HostMountPreview): string {
  const shown = entries.slice(0, SHOWN);
  const more = files - shown.length;
  const rest = more > 0 || truncated ? `, … and ${more.toLocaleString("en-US")} more` : "";
  const size = `${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}, ${bytes.toLocaleString("en-US")} bytes`;
  const names = shown.map((name) => JSON.stringify(name)).join(", ");
  return `- ${JSON.stringify(mountPath)}: ${size}${names === "" ? "" : `: ${names}${rest}`}`;
}

const SHOWN = 10;

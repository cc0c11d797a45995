import { readFileSync } from "node:fs";
import { decodeMountPath } from "../../sandbox/decode-mount-path.ts";

/** Lists the mount points at or below a folder, deepest first. */
export function listMounts(folder: string, mountinfo = "/proc/self/mountinfo"): readonly string[] {
  const text = readText(mountinfo);
  const found: string[] = [];
  for (const line of text.split("\n")) {
    const place = decodeMountPath(line.split(" ")[4] ?? "");
    if (place === folder || place.startsWith(`${folder}/`)) found.push(place);
  }
  return found.reverse();
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // not Linux
  }
}

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Reads the text of every file below a folder, by path. A symlink is shown as `-> target`. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  const look = (prefix: string) => {
    for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
      const path = prefix + entry.name;
      if (entry.isDirectory()) look(`${path}/`);
      else if (entry.isSymbolicLink()) found.push([path, `-> ${readlinkSync(join(folder, path))}`]);
      else found.push([path, readFileSync(join(folder, path), "utf8")]);
    }
  };
  look("");
  return Object.fromEntries(found);
}

import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Deletes the source maps of folders whose sources are not in the package: `"!src/local/chat"` in `files` names one. */
export function dropMaps(folder: string, files: readonly string[]): void {
  const excluded = files.filter((path) => path.startsWith("!src/") && !path.includes("*"));
  for (const path of excluded) {
    const compiled = path.replace("!src", folder);
    for (const map of globSync(`${compiled}/**/*.map`)) rmSync(map);
    for (const file of globSync(`${compiled}/**/*.js`)) {
      const code = readFileSync(file, "utf8");
      writeFileSync(file, code.replace(/\n\/\/# sourceMappingURL=.*/, ""));
    }
  }
}

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The files of `openai/` that need Node. In bundles for edge runtimes, `openai/edge.ts` replaces them. */
export const HOST_FILES: readonly string[] = [
  "workspace/container-filesystem",
  "workspace/container-manager",
  "workspace/container-workspace-section",
  "workspace/mount-workspace",
];

/**
 * Makes every import of a host file go through `#host/*`, which package.json resolves by condition. The sources import
 * the files directly, because `imports` in package.json cannot lead to `src` here and to `dist` in the package.
 */
export function redirectHostImports(folder: string): void {
  const openai = join(folder, "openai");
  const redirected = new Set<string>();
  for (const file of globSync(`${folder}/**/*.js`)) {
    const code = readFileSync(file, "utf8");
    const changed = code.replaceAll(/(\bfrom |\bimport\()"(\.[^"]+)\.js"/g, (text, start, path) => {
      const name = relative(openai, join(dirname(file), path));
      if (!HOST_FILES.includes(name)) return text;
      redirected.add(name);
      return `${start}"#host/${name}"`;
    });
    if (changed !== code) writeFileSync(file, changed);
  }
  const unused = HOST_FILES.filter((name) => !redirected.has(name));
  if (unused.length > 0)
    throw new Error(`Nothing imports ${unused.join(", ")}: update HOST_FILES.`);
}

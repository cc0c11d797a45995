import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The files of `openai/` that need Node. In bundles for edge runtimes, `openai/edge.ts` replaces them. */
export const HOST_FILES: readonly string[] = [
  "workspace/container-filesystem",
  "workspace/container-manager",
  "workspace/container-workspace-section",
  "workspace/mount-workspace",
];

/** The compiled file that re-exports the host files. */
export const HOST_FILE = "openai/host";

/**
 * Makes every import of a host file from outside its folder go through `#host`, which package.json resolves by
 * condition. The sources import the files directly, because `imports` in package.json cannot lead to `src` here and to
 * `dist` in the package. `#host` leads to one file with all exports, because each file takes time (decision 98).
 */
export function redirectHostImports(folder: string): void {
  const openai = join(folder, "openai");
  const redirected = new Set<string>();
  for (const file of globSync(`${folder}/**/*.js`)) {
    if (dirname(file) === join(openai, "workspace")) continue;
    const code = readFileSync(file, "utf8");
    const changed = code.replaceAll(/(\bfrom |\bimport\()"(\.[^"]+)\.js"/g, (text, start, path) => {
      const name = relative(openai, join(dirname(file), path));
      if (!HOST_FILES.includes(name)) return text;
      redirected.add(name);
      return `${start}"#host"`;
    });
    if (changed !== code) writeFileSync(file, changed);
  }
  const unused = HOST_FILES.filter((name) => !redirected.has(name));
  if (unused.length > 0)
    throw new Error(`Nothing imports ${unused.join(", ")}: update HOST_FILES.`);
  const code = HOST_FILES.map((name) => `export * from "./${name}.js";\n`).join("");
  writeFileSync(join(folder, `${HOST_FILE}.js`), code);
  writeFileSync(join(folder, `${HOST_FILE}.js.map`), EMPTY_MAP);
}

const EMPTY_MAP = '{"version":3,"sources":[],"names":[],"mappings":""}';

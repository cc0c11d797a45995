import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Finds a source that was changed after the build; `null` if there is none. Without a build, that is any source. */
export function findStaleBuild(): string | null {
  const built = statSync(join(root, "dist/index.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync("src/**/*.ts", {
    cwd: root,
    exclude: ["**/*.test.ts", "**/*.test-d.ts"],
  });
  return sources.find((source) => statSync(join(root, source)).mtimeMs > built) ?? null;
}

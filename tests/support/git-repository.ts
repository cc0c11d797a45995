import { execFileSync, spawnSync } from "node:child_process";
import { type Tree, temporaryTree, writeTree } from "./temporary-tree.ts";

/** Only the repository's own settings and ignore files apply. */
const OWN_SETTINGS = ["-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"];
const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

/** Creates a git repository with these files. It is removed when the test ends. */
export function gitRepository(tree: Tree = {}): string {
  const folder = temporaryTree();
  execFileSync("git", ["init", "--quiet", "--template=", folder], { env });
  return writeTree(folder, tree);
}

/** Returns the paths that git ignores. The files do not need to exist. */
export function listIgnored(repository: string, paths: readonly string[]): readonly string[] {
  const args = [...OWN_SETTINGS, "check-ignore", "--no-index", "-z", "--stdin"];
  const input = paths.map((path) => `${path}\0`).join("");
  const { stdout, stderr, status } = spawnSync("git", args, { cwd: repository, input, env });
  if (status === null || status > 1) throw new Error(stderr.toString());
  return splitNames(stdout).sort();
}

/** Returns the files that git does not ignore. None of them is tracked. */
export function listOthers(folder: string): readonly string[] {
  const args = [...OWN_SETTINGS, "ls-files", "--others", "--exclude-standard", "-z"];
  return splitNames(execFileSync("git", args, { cwd: folder, env })).sort();
}

function splitNames(output: Buffer): string[] {
  return output.toString().split("\0").filter(Boolean);
}

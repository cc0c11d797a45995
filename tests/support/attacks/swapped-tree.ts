import { chownSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { HostFilesystem } from "../../../src/files/filesystem/host-filesystem.ts";
import { runAsPlainUser, temporaryTree } from "../temporary-tree.ts";
import type { AttackOutcome } from "./attempt.ts";
import { swapEntries } from "./swap-entries.ts";

/** A root with a folder `dir` that another process keeps replacing with a symlink to a folder outside. */
export interface SwappedTree {
  readonly root: string;
  readonly filesystem: HostFilesystem;
}

/** The text of every file outside the root, and the name of one. */
export const SECRET = "secret of the host";

const NOBODY = 65534;

/**
 * Repeats `attack` while `root/dir` is swapped for a symlink to a folder outside the root. An attack gets through if
 * its result contains the secret, or if a file outside has changed at the end.
 */
export async function attackWhileSwapping(
  attack: (tree: SwappedTree, round: number) => Promise<unknown>,
  { tries = 300, as = "root" }: { readonly tries?: number; readonly as?: "root" | "user" } = {},
): Promise<AttackOutcome> {
  const folder = temporaryTree({
    [`outside/${SECRET}`]: SECRET,
    "outside/f": SECRET,
    "outside/sub/f": SECRET,
    "root/dir/f": "in the root",
    "root/dir/sub/f": "in the root",
  });
  const root = join(folder, "root");
  symlinkSync("../outside", join(root, "link"));
  if (as === "user") giveTo(NOBODY, folder);
  const before = readTree(join(folder, "outside"));
  const through: string[] = [];
  const run = async () => {
    await using _swapping = await swapEntries(join(root, "dir"), join(root, "link"));
    const filesystem = new HostFilesystem(root);
    await using _disposed = filesystem;
    for (let round = 0; round < tries; round++) {
      // An attack fails if the path is a symlink at that moment.
      const result = await attack({ root, filesystem }, round).catch(() => null);
      if (JSON.stringify(result)?.includes(SECRET)) through.push(`round ${round} read the secret`);
    }
  };
  await (as === "user" ? runAsPlainUser(run) : run());
  if (readTree(join(folder, "outside")) !== before) through.push("a file outside has changed");
  return { tried: tries, through };
}

function readTree(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names
    .map((name) => {
      const stats = lstatSync(join(folder, name));
      return `${name} ${stats.mode} ${stats.isFile() ? readFileSync(join(folder, name)) : ""}`;
    })
    .join("\n");
}

function giveTo(user: number, folder: string): void {
  if (process.geteuid?.() !== 0) return;
  chownSync(folder, user, user);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const at = join(folder, name);
    if (!lstatSync(at).isSymbolicLink()) chownSync(at, user, user);
  }
}

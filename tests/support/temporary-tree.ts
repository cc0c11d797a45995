import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A file's bytes, or `null` for an empty folder, by path. */
export type Tree = Readonly<Record<string, string | Uint8Array | null>>;

/** What it was at first: a test may set it otherwise for what it tests. */
const temporaryFolder = realpathSync(tmpdir());

/** A new folder that holds these, in this order, and is removed when the test is over. */
export function temporaryTree(tree: Tree = {}): string {
  const folder = mkdtempSync(join(temporaryFolder, "wink-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return growTree(folder, tree);
}

/** Adds files and folders to a folder, and gives it back. */
export function growTree(folder: string, tree: Tree): string {
  for (const [path, bytes] of Object.entries(tree)) {
    const at = join(folder, path);
    mkdirSync(bytes === null ? at : dirname(at), { recursive: true });
    if (bytes !== null) writeFileSync(at, bytes);
  }
  return folder;
}

/** Runs `work` as a user whom file modes bind: root reads everything. Gives what `work` gives. */
export async function asPlainUser<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  if (process.geteuid?.() !== 0) return await work();
  process.seteuid?.("nobody");
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

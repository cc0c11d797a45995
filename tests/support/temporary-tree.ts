import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Files and folders by path: a file's bytes, or `null` for an empty folder. */
export type Tree = Readonly<Record<string, string | Uint8Array | null>>;

/** The initial temporary folder, because a test may change TMPDIR. */
const temporaryFolder = realpathSync(tmpdir());

/** Creates a folder with these files, in this order. It is removed when the test ends. */
export function temporaryTree(tree: Tree = {}): string {
  const folder = mkdtempSync(join(temporaryFolder, "wink-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return writeTree(folder, tree);
}

/** Adds files and folders to a folder and returns its path. */
export function writeTree(folder: string, tree: Tree): string {
  for (const [path, bytes] of Object.entries(tree)) {
    const at = join(folder, path);
    mkdirSync(bytes === null ? at : dirname(at), { recursive: true });
    if (bytes !== null) writeFileSync(at, bytes);
  }
  return folder;
}

/** Runs `work` as an unprivileged user, because file modes do not restrict root. Returns its result. */
export async function runAsPlainUser<Result>(
  work: () => Promise<Result> | Result,
): Promise<Result> {
  if (process.geteuid?.() !== 0) return await work();
  process.seteuid?.("nobody");
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { withPackLock } from "../with-lock.ts";
import { type Page, parsePage } from "./parse-page.ts";

/** The files of the repository, and which of them the package contains. Paths have slashes. */
export interface Repository {
  readonly files: ReadonlySet<string>;
  /** Paths in the tarball. */
  readonly published: ReadonlySet<string>;
  readonly pages: ReadonlyMap<string, Page>;
  read(path: string): string;
}

const LEFT_OUT = new Set([".git", "node_modules", "dist", "coverage"]);

/** Reads the files below `root` and asks npm which of them it packs. */
export async function openRepository(root: string): Promise<Repository> {
  const files = new Set(listFiles(root, ""));
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const pages = [...files].filter((path) => path.endsWith(".md"));
  return {
    files,
    published: await listPublished(root),
    pages: new Map(pages.map((path) => [path, parsePage(path, read(path))])),
    read,
  };
}

/** Whether a path is a file in the set, or a folder that contains one. */
export function hasPath(files: ReadonlySet<string>, path: string): boolean {
  const folder = path === "." ? "" : `${path.replace(/\/$/, "")}/`;
  return files.has(path) || [...files].some((file) => file.startsWith(folder));
}

function listFiles(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? listFiles(root, path) : [path];
  });
}

async function listPublished(root: string): Promise<ReadonlySet<string>> {
  const command = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  // Other tests pack at the same time, and delete and build `dist` before they do.
  const { stdout } = await withPackLock(root, () =>
    promisify(execFile)("npm", command, { cwd: root, maxBuffer: 100_000_000 }),
  );
  const [packed] = JSON.parse(stdout) as readonly { files: readonly { path: string }[] }[];
  return new Set(packed?.files.map(({ path }) => path));
}

/** Files of the host by their paths below a folder. Strings are written as UTF-8. */
export type HostTree = Readonly<Record<string, string | Uint8Array>>;

// Loaded when a case runs: adapters without a workspace need no disk.
const loadDisk = () => import("node:fs/promises");

/** Creates a folder on the host with these files, and returns its real path. */
export async function createHostFolder(tree: HostTree): Promise<string> {
  const { mkdtemp, realpath } = await loadDisk();
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "wink-contract-")));
  await writeHostFiles(folder, tree);
  return folder;
}

/** Writes files below a folder of the host. */
export async function writeHostFiles(folder: string, tree: HostTree): Promise<void> {
  const { mkdir, writeFile } = await loadDisk();
  const { dirname, join } = await import("node:path");
  for (const [path, bytes] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/** Reads every file below a folder, by path, with one character per byte. */
export async function readFilesBelow(folder: string): Promise<Readonly<Record<string, string>>> {
  const { readdir, readFile } = await loadDisk();
  const { join, relative, sep } = await import("node:path");
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).replaceAll(sep, "/")] = await readFile(path, "latin1");
  }
  return files;
}

/** Converts a tree to the form that `filesBelow` returns, with a prefix before each path. */
export function toLatin1Files(tree: HostTree, prefix = ""): Readonly<Record<string, string>> {
  const toLatin1 = (bytes: Uint8Array) =>
    Array.from(bytes, (one) => String.fromCharCode(one)).join("");
  const encode = (text: string | Uint8Array) =>
    typeof text === "string" ? new TextEncoder().encode(text) : text;
  const entries = Object.entries(tree);
  return Object.fromEntries(
    entries.map(([path, bytes]) => [prefix + path, toLatin1(encode(bytes))]),
  );
}

/** Returns whether a path of the host exists. */
export async function pathExists(path: string): Promise<boolean> {
  const { access } = await loadDisk();
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Deletes a folder and everything below it. */
export async function removeFolder(path: string): Promise<void> {
  const { rm } = await loadDisk();
  await rm(path, { recursive: true, force: true });
}

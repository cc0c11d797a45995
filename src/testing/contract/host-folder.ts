/** Files of this machine by their paths below a folder; a text is written in UTF-8. */
export type HostTree = Readonly<Record<string, string | Uint8Array>>;

// Loaded when a case runs: whoever has no workspace needs no disk.
const disk = () => import("node:fs/promises");

/** A new folder of this machine that holds these files, by its real path. */
export async function hostFolder(tree: HostTree): Promise<string> {
  const { mkdir, mkdtemp, realpath, writeFile } = await disk();
  const { tmpdir } = await import("node:os");
  const { dirname, join } = await import("node:path");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "wink-contract-")));
  for (const [path, bytes] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  return folder;
}

/** The bytes of every file below a folder, by path, one character a byte. */
export async function filesBelow(folder: string): Promise<Readonly<Record<string, string>>> {
  const { readdir, readFile } = await disk();
  const { join, relative, sep } = await import("node:path");
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).replaceAll(sep, "/")] = await readFile(path, "latin1");
  }
  return files;
}

/** A tree as `filesBelow` would give it, each path behind a prefix. */
export function bytesOf(tree: HostTree, prefix = ""): Readonly<Record<string, string>> {
  const latin1 = (bytes: Uint8Array) =>
    Array.from(bytes, (one) => String.fromCharCode(one)).join("");
  const encoded = (text: string | Uint8Array) =>
    typeof text === "string" ? new TextEncoder().encode(text) : text;
  const entries = Object.entries(tree);
  return Object.fromEntries(
    entries.map(([path, bytes]) => [prefix + path, latin1(encoded(bytes))]),
  );
}

/** Whether there is anything at a path of this machine. */
export async function isThere(path: string): Promise<boolean> {
  const { access } = await disk();
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Removes a folder with all that is in it. */
export async function removeFolder(path: string): Promise<void> {
  const { rm } = await disk();
  await rm(path, { recursive: true, force: true });
}

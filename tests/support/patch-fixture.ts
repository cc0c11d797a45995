import type { Filesystem } from "../../src/files/filesystem/filesystem.ts";
import { InMemoryFilesystem } from "../../src/files/filesystem/in-memory-filesystem.ts";

/** Returns a patch with its first and last line. */
export const createPatch = (...lines: string[]) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** Creates a file system in memory with these files. */
export async function createFilesystem(files: Record<string, string>): Promise<Filesystem> {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(files)) await filesystem.writeText(path, text);
  return filesystem;
}

/** Reads all files as text, by path. */
export async function readFiles(filesystem: Filesystem): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const path of await filesystem.glob("*")) {
    tree[path] = new TextDecoder().decode(await filesystem.readBytes(path));
  }
  return tree;
}

/** Replacements for methods of a file system. */
export type Methods = { [Key in keyof Filesystem]?: Filesystem[Key] | undefined };

/** Returns the same file system with some methods replaced. */
export function replaceMethods(filesystem: Filesystem, methods: Methods): Filesystem {
  return new Proxy(filesystem, {
    get(target, key) {
      const own: unknown = Reflect.has(methods, key)
        ? Reflect.get(methods, key)
        : Reflect.get(target, key);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

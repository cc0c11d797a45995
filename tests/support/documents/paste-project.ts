import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type InstalledPackage, installPackedPackage } from "../packed-package.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A program in a separate folder. */
export interface PastedProgram {
  readonly folder: string;
  readonly file: string;
}

/** An empty project in which the packed package and zod are installed. */
export interface PasteProject extends AsyncDisposable {
  readonly folder: string;
  /** The command `wink` of the installed package. */
  readonly wink: string;
  /** The pasted programs, by the packages that they need in addition to `weakincentives` and `zod`. */
  readonly programs: ReadonlyMap<string, readonly PastedProgram[]>;
  /** Writes a program into an empty folder, next to the packages it needs. */
  paste(source: string, needs: readonly string[], extension: string): Promise<PastedProgram>;
}

/** Creates the project. Packages are copied from this repository's `node_modules`. */
export async function createPasteProject(): Promise<PasteProject> {
  const installed: InstalledPackage = await installPackedPackage();
  const { folder } = installed;
  await addPackages(folder, ["zod", "@types/node"]);
  const programs = new Map<string, PastedProgram[]>();
  return {
    folder,
    wink: join(folder, "node_modules", "weakincentives", "dist", "cli", "main.js"),
    programs,
    paste: async (source, needs, extension) => {
      // A folder per list of packages: a program finds its packages here and in the folder above.
      const key = [...needs].sort().join(" ");
      const pasted = programs.get(key) ?? [];
      const layer = join(folder, `needs-${[...programs.keys(), key].indexOf(key)}`);
      if (pasted.length === 0) {
        await addPackages(layer, needs, folder);
        if (needs.length > 0) await copyPackage(folder, layer);
      }
      const program = { folder: join(layer, `${pasted.length}`), file: `agent.${extension}` };
      programs.set(key, [...pasted, program]);
      await mkdir(program.folder, { recursive: true });
      await writeFile(join(program.folder, program.file), source);
      return program;
    },
    [Symbol.asyncDispose]: () => installed[Symbol.asyncDispose](),
  };
}

/** Copies the package itself, so that it finds the optional packages beside it. */
async function copyPackage(from: string, to: string): Promise<void> {
  const path = join("node_modules", "weakincentives");
  await cp(join(from, path), join(to, path), { recursive: true });
}

/** Whether a package is installed in this repository. */
export function isInstalled(name: string): boolean {
  return existsSync(join(root, "node_modules", name, "package.json"));
}

/** The packages that npm installs with a package, if they are installed here. */
async function listDependencies(folder: string): Promise<readonly string[]> {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => !manifest.peerDependenciesMeta?.[name]?.optional,
  );
  const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
  return names.filter(isInstalled);
}

/** Copies packages and their dependencies, except packages that the folder above already has. */
export async function addPackages(
  folder: string,
  names: readonly string[],
  above = "",
): Promise<void> {
  const modules = join(folder, "node_modules");
  await mkdir(modules, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const to = join(modules, name);
    if (existsSync(to) || (above && existsSync(join(above, "node_modules", name)))) continue;
    const from = join(root, "node_modules", name);
    await mkdir(dirname(to), { recursive: true });
    // The Claude Agent SDK has a program of 370 MB.
    if (name.startsWith("@anthropic-ai/")) await symlink(from, to);
    else await cp(from, to, { recursive: true });
    open.push(...(await listDependencies(from)));
  }
}

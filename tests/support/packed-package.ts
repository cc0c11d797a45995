import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withPackLock } from "./with-lock.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** The package as a user installs it: packed, unpacked into an empty folder, with its dependencies. */
export interface InstalledPackage extends AsyncDisposable {
  /** The empty folder. */
  readonly folder: string;
  readonly tarball: string;
  /** Paths within the tarball. */
  readonly files: readonly string[];
}

export async function installPackedPackage(): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), "wink-packed-"));
  const modules = join(folder, "node_modules");
  // npm builds `dist` before it packs, and several test files pack at the same time.
  const { stdout } = await withPackLock(root, () =>
    run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root }),
  );
  // The build prints before npm does; the list is the last thing printed.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("\n[") + 1)) as readonly Packed[];
  if (!packed) throw new Error(`npm pack said nothing of what it packed: ${stdout}`);
  const tarball = join(folder, packed.filename);
  await mkdir(join(modules, "weakincentives"), { recursive: true });
  await run("tar", [
    "-xzf",
    tarball,
    "-C",
    join(modules, "weakincentives"),
    "--strip-components=1",
  ]);
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  for (const name of await findDependencies()) {
    await cp(join(root, "node_modules", name), join(modules, name), { recursive: true });
  }
  return {
    folder,
    tarball,
    files: packed.files.map(({ path }) => path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** The direct and indirect dependencies, including installed optional ones. */
async function findDependencies(): Promise<readonly string[]> {
  const found = new Set<string>();
  const open = await listNames(root);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(await listNames(join(root, "node_modules", name))));
  }
  return [...found];
}

async function listNames(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, "package.json"), "utf8");
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text);
  const optional = Object.keys(optionalDependencies).filter((name) =>
    existsSync(join(root, "node_modules", name)),
  );
  return [...Object.keys(dependencies), ...optional];
}

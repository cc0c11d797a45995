import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/** The package as a user installs it: packed, unpacked into an empty folder, with what it depends on. */
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
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: root,
  });
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
  for (const name of await dependencies()) {
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

/** Ours have none of their own: this fails loudly on the day one has. */
async function dependencies(): Promise<readonly string[]> {
  const { dependencies = {} } = await manifestOf(root);
  for (const name of Object.keys(dependencies)) {
    const { dependencies: more = {} } = await manifestOf(join(root, "node_modules", name));
    if (Object.keys(more).length > 0) throw new Error(`${name} has dependencies: copy them too`);
  }
  return Object.keys(dependencies);
}

async function manifestOf(folder: string): Promise<{ dependencies?: Record<string, string> }> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

/**
 * Completes package-lock.json after `npm install`: adds the optional packages of other platforms that npm omitted, with
 * the hashes that the registry names. A package that this registry does not have is removed from its parent's list,
 * because an entry without a hash is refused and `npm ci` refuses a list without its entries. Run it again where the
 * registry has all platforms, to be able to develop there.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  optionalDependencies?: Readonly<Record<string, string>>;
}

/** The registry's answer about a package. */
interface Published {
  readonly "dist.integrity": string;
  readonly license?: string;
  readonly engines?: object;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const { packages } = lockfile;
const added: string[] = [];
const missing: string[] = [];
for (const [path, entry] of Object.entries(packages)) {
  const wanted = listOptional(path, entry);
  if (wanted.length === 0) continue;
  const found = wanted.filter(([name, version]) => lockOptional(path, name, version)).sort();
  if (found.length > 0) entry.optionalDependencies = Object.fromEntries(found);
  else delete entry.optionalDependencies;
}
lockfile.packages = Object.fromEntries(
  Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1)),
);
writeFileSync("package-lock.json", `${JSON.stringify(lockfile, null, 2)}\n`);
console.log(`package-lock.json: ${added.length} packages of other platforms added`);
if (missing.length > 0) console.log(`Not in this registry, so not locked: ${missing.join(", ")}`);

/** Lists a package's optional dependencies as it declares them, because the lockfile may list fewer. */
function listOptional(path: string, entry: Locked): readonly (readonly [string, string])[] {
  const manifest = `${path}/package.json`;
  if (path === "" || !existsSync(manifest)) return Object.entries(entry.optionalDependencies ?? {});
  const { optionalDependencies = {} }: Partial<Locked> = JSON.parse(readFileSync(manifest, "utf8"));
  return Object.entries(optionalDependencies);
}

/** Returns whether the lockfile has the package with its hash, and adds it if the registry has it. */
function lockOptional(path: string, name: string, version: string): boolean {
  const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
  if (places.some((place) => packages[place]?.integrity !== undefined)) return true;
  for (const place of places) delete packages[place];
  const published = findPublished(name, version);
  if (published === null) {
    missing.push(`${name}@${version}`);
    return false;
  }
  const { "dist.integrity": integrity, ...facts } = published;
  const dev = packages[path]?.dev === true ? { dev: true } : {};
  const entry = { version, integrity, ...facts, ...dev, optional: true };
  packages[`node_modules/${name}`] = entry;
  added.push(name);
  return true;
}

function findPublished(name: string, version: string): Published | null {
  const fields = ["dist.integrity", "license", "engines", "os", "cpu", "libc"];
  const args = ["view", `${name}@${version}`, ...fields, "--json", "--loglevel=silent"];
  const { status, stdout } = spawnSync("npm", args, { encoding: "utf8" });
  if (status !== 0 || stdout.trim() === "") return null;
  const published: Partial<Published> = JSON.parse(stdout);
  return published["dist.integrity"] === undefined ? null : (published as Published);
}

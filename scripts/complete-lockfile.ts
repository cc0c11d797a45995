/**
 * Adds to package-lock.json the optional packages of other platforms that npm omitted because it
 * could not see them when it wrote the file: without them `npm ci` refuses the whole lockfile. Run
 * it after `npm install`. Entries have no integrity, so npm fills that in where it does see them.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const systems = new Set(["android", "darwin", "freebsd", "linux", "openharmony", "win32"]);
const processors = new Set(["arm", "arm64", "ia32", "ppc64", "s390x", "wasm32", "x64"]);

const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const { packages } = lockfile;
let added = 0;
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (`node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages) continue;
    packages[`node_modules/${name}`] = {
      version,
      ...getPlatform(name),
      ...(dev ? { dev } : {}),
      optional: true,
    } as Locked;
    added++;
  }
}
lockfile.packages = Object.fromEntries(
  Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1)),
);
writeFileSync("package-lock.json", `${JSON.stringify(lockfile, null, 2)}\n`);
console.log(`package-lock.json: ${added} packages of other platforms added`);

/** By their names, which end in system, processor and sometimes the C library. */
function getPlatform(name: string): object {
  const parts = name.split(/[/-]/);
  const os = parts.find((part) => systems.has(part));
  const cpu = parts.find((part) => processors.has(part));
  if (!os && cpu !== "wasm32") throw new Error(`Which platform is ${name} for?`);
  const libc = parts.some((part) => part.startsWith("musl")) ? "musl" : "glibc";
  return {
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(os ? { os: [os] } : {}),
    ...(os === "linux" ? { libc: [libc] } : {}),
  };
}

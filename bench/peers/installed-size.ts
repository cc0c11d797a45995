import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };

/** The size of a client after `npm install`, with zod, which all of them use. */
export interface InstalledSize {
  readonly megabytes: number;
  readonly packages: number;
  /** The packages that the client asks for, with their versions. */
  readonly versions: readonly string[];
}

/** Measures the `node_modules` of a folder. */
export function measureInstalled(folder: string): InstalledSize {
  const modules = join(folder, "node_modules");
  const files = readdirSync(modules, { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((total, file) => total + statSync(join(file.parentPath, file.name)).size, 0);
  const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return {
    megabytes: bytes / 2 ** 20,
    packages: Object.keys(lock.packages).length,
    versions: Object.keys(dependencies).map(
      (name) => `${name}@${lock.packages[`node_modules/${name}`].version}`,
    ),
  };
}

/** Packs this library, which must be built, installs it with zod in an empty folder, and measures that. */
export function measureOurSize(): InstalledSize {
  const folder = mkdtempSync(join(tmpdir(), "wink-bench-"));
  const npm = (args: readonly string[], cwd: string) =>
    execFileSync("npm", [...args, "--ignore-scripts", "--loglevel=error"], {
      cwd,
      stdio: ["ignore", "ignore", "pipe"],
    });
  try {
    npm(["pack", "--pack-destination", folder], fileURLToPath(new URL("../..", import.meta.url)));
    const dependencies = {
      weakincentives: `file:weakincentives-${manifest.version}.tgz`,
      zod: manifest.devDependencies.zod,
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
    npm(["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
    return measureInstalled(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./clients.ts";

/** The peers that are installed, and why the others are not. */
export interface InstalledPeers {
  readonly installed: readonly Client[];
  readonly notes: readonly string[];
}

/** Installs the packages of the peers that are missing or have another lockfile: some 400 MB from npm's registry. */
export function installPeers(peers: readonly Client[]): InstalledPeers {
  const notes: string[] = [];
  const installed = peers.filter((peer) => {
    if (isInstalled(peer)) return true;
    try {
      const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      execFileSync("npm", args, { cwd: peer.folder, stdio: ["ignore", "ignore", "pipe"] });
      return true;
    } catch (error) {
      notes.push(`${peer.name} is missing: its packages could not be installed. ${error}`);
      return false;
    }
  });
  return { installed, notes };
}

/** npm writes a copy of the lockfile when it has installed everything. */
function isInstalled({ folder }: Client): boolean {
  const [wanted, found] = ["package-lock.json", "node_modules/.package-lock.json"].map((path) =>
    statSync(join(folder, path), { throwIfNoEntry: false }),
  );
  return wanted !== undefined && found !== undefined && found.mtimeMs >= wanted.mtimeMs;
}

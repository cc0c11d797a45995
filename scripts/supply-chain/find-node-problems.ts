import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lockfile } from "./lockfile.ts";

/**
 * Returns why the Node that the install script of the package `node` downloaded is not the expected one. It is not in
 * package-lock.json, because the script runs a separate installation, which leaves a lockfile beside it. The hashes
 * are in node-hashes.txt; platforms without a line are not checked.
 */
export function findNodeProblems(root: string): readonly string[] {
  const path = join(root, "node_modules/node/node_modules/.package-lock.json");
  if (!existsSync(path)) return [];
  const { packages }: Lockfile = JSON.parse(readFileSync(path, "utf8"));
  const hashes = readHashes();
  return Object.entries(packages).flatMap(([place, { version, integrity }]) => {
    const name = `${place.replace(/^node_modules\//, "")}@${version}`;
    const expected = hashes.get(name);
    if (expected === undefined || expected === integrity) return [];
    return [`${name} was downloaded with the hash ${integrity}, expected ${expected}: delete it`];
  });
}

function readHashes(): ReadonlyMap<string, string> {
  const text = readFileSync(new URL("node-hashes.txt", import.meta.url), "utf8");
  const lines = text.trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [name = "", hash = ""] = line.split(" ");
      return [name, hash];
    }),
  );
}

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { decode, encode } from "@jridgewell/sourcemap-codec";

/**
 * Reduces source maps to one segment per line, a sixth of their size. Stack traces, breakpoints and definitions keep
 * their lines, and lose the columns within them.
 */
export function thinSourceMaps(folder: string): void {
  for (const file of globSync(`${folder}/**/*.map`)) {
    const { version, sources, mappings } = JSON.parse(readFileSync(file, "utf8"));
    const lines = decode(mappings).map((segments) => segments.slice(0, 1));
    const thin = { version, sources, names: [], mappings: encode(lines) };
    writeFileSync(file, JSON.stringify(thin));
  }
}

import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";

/**
 * Removes from the source maps of JavaScript and declarations what leads to sources that are not in the package:
 * `"!src/local/chat"` in `files` names such a folder. A map without other sources is deleted.
 */
export function dropMaps(folder: string, files: readonly string[]): void {
  const excluded = files.filter((path) => path.startsWith("!src/") && !path.includes("*"));
  const isExcluded = (source: string) =>
    excluded.some((path) => source.includes(`/${path.slice(1)}/`));
  for (const path of globSync(`${folder}/**/*.{js,d.ts}.map`)) {
    const map = JSON.parse(readFileSync(path, "utf8"));
    const sources: readonly string[] = map.sources;
    const kept = sources.filter((source) => !isExcluded(source));
    if (kept.length === 0) dropMap(path);
    else if (kept.length < sources.length) {
      const mappings = encode(keepSources(decode(map.mappings), sources, kept));
      writeFileSync(path, JSON.stringify({ ...map, sources: kept, mappings }));
    }
  }
}

function dropMap(path: string): void {
  rmSync(path);
  const file = path.replace(/\.map$/, "");
  writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=.*/, ""));
}

function keepSources(
  lines: readonly (readonly SourceMapSegment[])[],
  sources: readonly string[],
  kept: readonly string[],
): SourceMapSegment[][] {
  return lines.map((line) =>
    line.flatMap((segment): SourceMapSegment[] => {
      const [column, source, sourceLine, sourceColumn] = segment;
      if (source === undefined || sourceLine === undefined || sourceColumn === undefined) return [];
      const index = kept.indexOf(sources[source] ?? "");
      // Without a source, a debugger does not take the code for the last source before it.
      return index < 0 ? [[column]] : [[column, index, sourceLine, sourceColumn]];
    }),
  );
}

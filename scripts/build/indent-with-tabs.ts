import { globSync, readFileSync, writeFileSync } from "node:fs";
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";

/**
 * Replaces the compiler's four spaces of indentation with tabs, which are a tenth of the JavaScript. A line begins with
 * code if the map has a segment at its first character; other lines may be inside a template literal, and stay.
 */
export function indentWithTabs(folder: string): void {
  for (const path of globSync(`${folder}/**/*.js`)) {
    const map = JSON.parse(readFileSync(`${path}.map`, "utf8"));
    const lines = readFileSync(path, "utf8").split("\n");
    const mappings = decode(map.mappings);
    for (const [index, line] of lines.entries()) {
      const segments = mappings[index] ?? [];
      const indent = /^ */.exec(line)?.[0].length ?? 0;
      if (indent % WIDTH !== 0 || segments[0]?.[0] !== indent) continue;
      const removed = indent - indent / WIDTH;
      lines[index] = "\t".repeat(indent / WIDTH) + line.slice(indent);
      mappings[index] = segments.map((segment) => shift(segment, removed));
    }
    writeFileSync(path, lines.join("\n"));
    writeFileSync(`${path}.map`, JSON.stringify({ ...map, mappings: encode(mappings) }));
  }
}

const WIDTH = 4;

function shift([column, ...rest]: SourceMapSegment, by: number): SourceMapSegment {
  return [column - by, ...rest] as SourceMapSegment;
}

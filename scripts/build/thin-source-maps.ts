import { globSync, readFileSync, writeFileSync } from "node:fs";
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";

/** The segments of one line of output: the column there, and the file, line and column of the source. */
type Line = readonly SourceMapSegment[];

/** Reduces source maps to a sixth of their size. Lines stay exact; columns within them are lost. */
export function thinSourceMaps(folder: string): void {
  for (const path of globSync(`${folder}/**/*.map`)) {
    const map = JSON.parse(readFileSync(path, "utf8"));
    const lines = decode(map.mappings);
    const thin = path.endsWith(".d.ts.map")
      ? keepDeclaredNames(lines, readFileSync(path.replace(/\.map$/, ""), "utf8"))
      : lines.map(keepSourceLines);
    // TypeScript ignores a map without `file`, although the specification makes it optional.
    const { version, file, sources } = map;
    const text = { version, file, sources, names: [], mappings: encode(thin) };
    writeFileSync(path, JSON.stringify(text));
  }
}

/** For stack traces and breakpoints: the compiler may join several lines of the source into one. */
function keepSourceLines(line: Line): SourceMapSegment[] {
  return line.filter((segment, index) => segment[2] !== line[index - 1]?.[2]);
}

const BEFORE_NAME =
  /^\s*(?:(?:export|default|declare|abstract|readonly|static|protected|accessor|get|set|const|let|class|interface|type|function|enum|namespace)\s+)*(?=[\w$"'[])/;

/**
 * For "go to definition", which looks up the exact position of a name and otherwise takes the next segment, often that of
 * another line: keeps the start of each line of code, and the name that the line declares.
 */
function keepDeclaredNames(lines: readonly Line[], code: string): SourceMapSegment[][] {
  const texts = code.split("\n");
  return lines.map((line, index) => {
    const text = texts[index] ?? "";
    if (/^\s*\/?\*/.test(text)) return []; // a comment
    const name = BEFORE_NAME.exec(text)?.[0].length;
    return line.filter(([column], position) => position === 0 || column === name);
  });
}

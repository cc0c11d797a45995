import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A program below `examples/`, and the facts in its comments. */
export interface Example {
  /** Path from the root of the repository, with slashes. */
  readonly path: string;
  readonly source: string;
  /** The doc comment on its first line, without a line break. Empty if there is none. */
  readonly sentence: string;
  /** Packages other than `weakincentives` and `zod`: `// needs: …`, with commas between them. */
  readonly needs: readonly string[];
  /** Whether `wink run` starts it, so that it needs no key: `// run: wink run`. */
  readonly isRunByWink: boolean;
  /** Its output: `// prints: …`, one per line. */
  readonly prints: readonly string[];
}

/** Lists the programs `examples/x.ts`, `examples/x/main.ts` and `examples/agents/x/main.ts`, in order. */
export function listExamples(root: string): readonly Example[] {
  const files = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" });
  const programs = files
    .map((file) => `examples/${file.replaceAll("\\", "/")}`)
    .filter((path) => /^examples\/(?:[^/]+|(?:agents\/)?[^/]+\/main)\.ts$/.test(path));
  return programs.sort().map((path) => readExample(path, readFileSync(join(root, path), "utf8")));
}

/** Reads the comments of a program. */
export function readExample(path: string, source: string): Example {
  const [, comment = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  const findLines = (name: string) =>
    [...source.matchAll(new RegExp(`^// ${name}:(?: (.*))?$`, "gm"))].map(([, text = ""]) => text);
  return {
    path,
    source,
    sentence: comment.replaceAll(/\s*\n\s*\* ?/g, " ").trim(),
    needs: findLines("needs").flatMap((names) => names.split(", ")),
    isRunByWink: findLines("run").includes("wink run"),
    prints: findLines("prints"),
  };
}

import { posix } from "node:path";
import type { MeasureRow } from "../measure-row.ts";
import type { Sources } from "./import-graph.ts";

/** Hosted kinds, and in how many sources each may be named. */
export const KIND_TARGETS: ReadonlyMap<string, number> = new Map([
  ["code_interpreter", 14],
  ["apply_patch", 12],
  ["image_generation", 8],
]);

/**
 * Hosted kinds that the local provider has in one record each. Web search and tool search are skipped: they are
 * also Anthropic tools, which the Messages API names.
 */
const LOCAL_KINDS = [
  ...KIND_TARGETS.keys(),
  ...["file_search", "local_shell", "computer_use", "programmatic_tool_calling"],
];

/** Measures in how many sources each hosted kind is named: how many places a change of one kind may touch. */
export function measureKinds(sources: Sources): readonly MeasureRow[] {
  const rows = [...KIND_TARGETS].map(([kind, target]) => {
    const where = findKindFiles(sources, kind);
    const measure = `sources that name ${kind}`;
    return { measure, now: where.length, anchors: "6-8 (vercel/ai)", target, where };
  });
  const local = new Map([...sources].filter(([file]) => file.startsWith("local/")));
  const most = LOCAL_KINDS.map((kind) => findKindFiles(local, kind)).reduce((largest, one) =>
    one.length > largest.length ? one : largest,
  );
  const measure = "sources of src/local that name one kind";
  return [...rows, { measure, now: most.length, anchors: "-", target: 1, where: most }];
}

/** Finds the sources that name a kind: as `my_kind`, `myKind` or `MyKind`. Entry points and lists (`index.ts`) are skipped. */
export function findKindFiles(sources: Sources, kind: string): readonly string[] {
  const upper = kind.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const names = [kind, upper, upper.charAt(0).toLowerCase() + upper.slice(1)];
  return [...sources]
    .filter(([file]) => posix.basename(file) !== "index.ts")
    .filter(([, text]) => names.some((name) => text.includes(name)))
    .map(([file]) => file);
}

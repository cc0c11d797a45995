import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { StepFault } from "../step-fault.ts";

/** One change of one file. Editors replace a text that occurs once in the file. */
export type PatchEdit =
  | { readonly kind: "create"; readonly path: string; readonly text: string }
  | {
      readonly kind: "replace";
      readonly path: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: "delete"; readonly path: string };

/** Converts the operations of a patch to edits, in their order. */
export function toPatchEdits(operations: readonly object[]): readonly PatchEdit[] {
  return operations.flatMap((operation) => toOperationEdits({ ...operation }));
}

/** Quotes a path for a shell command. */
export function quoteForShell(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function toOperationEdits(operation: WireItem): readonly PatchEdit[] {
  const path = readString(operation, "path");
  const diff = readString(operation, "diff");
  const { type } = operation;
  if (type === "delete_file") return [{ kind: "delete", path }];
  if (type === "create_file") return [{ kind: "create", path, text: readNewText(diff) }];
  if (type === "update_file") return parseHunks(diff).map((hunk) => toReplacement(hunk, path));
  throw new StepFault(
    `the model wrote a patch with an unknown operation type '${type}'. Use create_file, update_file or delete_file.`,
  );
}

/** Returns the text of a new file. Each of its lines starts with `+` in the diff. */
function readNewText(diff: string): string {
  const lines = splitLines(diff).filter((line) => line.startsWith("+"));
  return lines.map((line) => `${line.slice(1)}\n`).join("");
}

interface Hunk {
  /** The line after `@@`, or `null` if it is empty. */
  readonly anchor: string | null;
  readonly lines: readonly string[];
}

function parseHunks(diff: string): readonly Hunk[] {
  const hunks: { anchor: string | null; lines: string[] }[] = [];
  for (const line of splitLines(diff)) {
    if (line.startsWith("*** End of File")) continue;
    if (line.startsWith("@@")) hunks.push({ anchor: line.slice(2).trim() || null, lines: [] });
    else if (hunks.length === 0) hunks.push({ anchor: null, lines: [line] });
    else hunks.at(-1)?.lines.push(line);
  }
  return hunks.filter(({ lines }) => lines.length > 0);
}

/** Returns the old and new text of a hunk. If the hunk has no old lines, the anchor is the old text. */
function toReplacement({ anchor, lines }: Hunk, path: string): PatchEdit {
  const withoutSign = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  const before = withoutSign("+");
  const after = withoutSign("-");
  const replace = { kind: "replace", path } as const;
  if (before.length > 0) return { ...replace, before: before.join("\n"), after: after.join("\n") };
  if (anchor !== null) return { ...replace, before: anchor, after: [anchor, ...after].join("\n") };
  throw new StepFault(
    `the model wrote a patch of '${path}' with a hunk that has no position. Add a context line, a removed line or an @@ line.`,
  );
}

/** Returns the lines of a diff without trailing empty lines. */
function splitLines(diff: string): readonly string[] {
  const lines = diff.split(/\r?\n/);
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

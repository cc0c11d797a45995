import { textAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { modelFault } from "./check/refusal.ts";
import type { NativeUse } from "./native-use.ts";

/**
 * A patch by the tools that the Claude Agent SDK has for files: Write makes one, Edit changes one that
 * was read before, and Bash removes one.
 */
export function patchUses(
  operations: readonly object[],
  has: (name: string) => boolean,
): readonly NativeUse[] {
  return operations.flatMap((operation) => usesOf({ ...operation }, has));
}

function usesOf(operation: WireItem, has: (name: string) => boolean): readonly NativeUse[] {
  const path = textAt(operation, "path");
  const diff = textAt(operation, "diff");
  const { type } = operation;
  if (type === "delete_file")
    return [{ name: "Bash", input: { command: `rm -- ${quoted(path)}` } }];
  if (type === "create_file")
    return [{ name: "Write", input: { file_path: path, content: newText(diff) } }];
  if (type !== "update_file")
    throw modelFault(`The model wrote a patch with an operation of type '${type}'.`);
  const read = has("Read") ? [{ name: "Read", input: { file_path: path } }] : [];
  const edits = hunksOf(diff).map((hunk) => ({
    name: "Edit",
    input: { file_path: path, ...changeOf(hunk, path) },
  }));
  return [...read, ...edits];
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Each line of a new file has a `+` before it. */
function newText(diff: string): string {
  const lines = linesOf(diff).filter((line) => line.startsWith("+"));
  return lines.map((line) => `${line.slice(1)}\n`).join("");
}

interface Hunk {
  /** The line after `@@`, if it says where. */
  readonly anchor: string | null;
  readonly lines: readonly string[];
}

function hunksOf(diff: string): readonly Hunk[] {
  const hunks: { anchor: string | null; lines: string[] }[] = [];
  for (const line of linesOf(diff)) {
    if (line.startsWith("*** End of File")) continue;
    if (line.startsWith("@@")) hunks.push({ anchor: line.slice(2).trim() || null, lines: [] });
    else if (hunks.length === 0) hunks.push({ anchor: null, lines: [line] });
    else hunks.at(-1)?.lines.push(line);
  }
  return hunks.filter(({ lines }) => lines.length > 0);
}

/** What is there now and what is to be there. Where nothing is said of what is there, the anchor is. */
function changeOf({ anchor, lines }: Hunk, path: string): WireItem {
  const kept = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  const before = kept("+");
  const after = kept("-");
  if (before.length > 0) return { old_string: before.join("\n"), new_string: after.join("\n") };
  if (anchor !== null) return { old_string: anchor, new_string: [anchor, ...after].join("\n") };
  throw modelFault(
    `The model wrote a patch of '${path}' with a hunk that says nothing of where it belongs: give it a line that stays or goes.`,
  );
}

/** Without the empty ones at the end, which only set a diff off. */
function linesOf(diff: string): readonly string[] {
  const lines = diff.split(/\r?\n/);
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

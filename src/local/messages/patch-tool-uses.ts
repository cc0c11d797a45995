import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { StepFault } from "../step-fault.ts";
import type { SdkToolUse } from "./sdk-tool-use.ts";

/**
 * Converts a patch to calls of the Claude Agent SDK's file tools: Write creates a file, Edit changes a file
 * that was read before, and Bash deletes one.
 */
export function toPatchToolUses(
  operations: readonly object[],
  has: (name: string) => boolean,
): readonly SdkToolUse[] {
  return operations.flatMap((operation) => toOperationUses({ ...operation }, has));
}

function toOperationUses(
  operation: WireItem,
  has: (name: string) => boolean,
): readonly SdkToolUse[] {
  const path = readString(operation, "path");
  const diff = readString(operation, "diff");
  const { type } = operation;
  if (type === "delete_file")
    return [{ name: "Bash", input: { command: `rm -- ${quoteForShell(path)}` } }];
  if (type === "create_file")
    return [{ name: "Write", input: { file_path: path, content: readNewText(diff) } }];
  if (type !== "update_file")
    throw new StepFault(
      `the model wrote a patch with an unknown operation type '${type}'. Use create_file, update_file or delete_file.`,
    );
  const read = has("Read") ? [{ name: "Read", input: { file_path: path } }] : [];
  const edits = parseHunks(diff).map((hunk) => ({
    name: "Edit",
    input: { file_path: path, ...toEdit(hunk, path) },
  }));
  return [...read, ...edits];
}

function quoteForShell(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
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
function toEdit({ anchor, lines }: Hunk, path: string): WireItem {
  const withoutSign = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  const before = withoutSign("+");
  const after = withoutSign("-");
  if (before.length > 0) return { old_string: before.join("\n"), new_string: after.join("\n") };
  if (anchor !== null) return { old_string: anchor, new_string: [anchor, ...after].join("\n") };
  throw new StepFault(
    `the model wrote a patch of '${path}' with a hunk that has no position. Add a context line, a removed line or an @@ line.`,
  );
}

/** Returns the lines of a diff without trailing empty lines. */
function splitLines(diff: string): readonly string[] {
  const lines = diff.split(/\r?\n/);
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

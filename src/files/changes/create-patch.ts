import { type DiffBudget, diffLines } from "./diff-lines.ts";
import { formatHunks, splitLines } from "./format-hunks.ts";
import { quotePath, toDiffNames } from "./quote-path.ts";

/** One version of a text file. */
export interface TextVersion {
  readonly text: string;
  /** The permission bits. */
  readonly mode: number;
}

/** Both versions of a file. `null` means that there is none. */
export interface TextChange {
  readonly path: string;
  readonly before: TextVersion | null;
  readonly after: TextVersion | null;
}

/** Creates a unified diff of one file, with the headers that `git diff` prints. */
export function createPatch({ path, before, after }: TextChange, budget: DiffBudget): string {
  const lines = {
    before: splitLines(before?.text ?? ""),
    after: splitLines(after?.text ?? ""),
  };
  const edits = diffLines(lines.before, lines.after, budget);
  const header = `diff --git ${quotePath(`a/${path}`)} ${quotePath(`b/${path}`)}\n`;
  const names = edits.length === 0 ? "" : formatNames(path, before, after);
  return header + formatModes(before, after) + names + formatHunks({ ...lines, edits });
}

function formatModes(before: TextVersion | null, after: TextVersion | null): string {
  if (!before) return after ? `new file mode ${toGitMode(after.mode)}\n` : "";
  if (!after) return `deleted file mode ${toGitMode(before.mode)}\n`;
  if (before.mode === after.mode) return "";
  // Git knows only two modes. Where both versions have the same one, print the actual modes for `patch`.
  const [one, other] = [toGitMode(before.mode), toGitMode(after.mode)];
  const isVisible = one !== other;
  return [
    `old mode ${isVisible ? one : toActualMode(before.mode)}\n`,
    `new mode ${isVisible ? other : toActualMode(after.mode)}\n`,
  ].join("");
}

function toGitMode(mode: number): string {
  return (mode & 0o100) === 0 ? "100644" : "100755";
}

function toActualMode(mode: number): string {
  return `100${mode.toString(8).padStart(3, "0")}`;
}

function formatNames(path: string, before: TextVersion | null, after: TextVersion | null): string {
  const status = before ? (after ? "changed" : "deleted") : "added";
  const names = toDiffNames(path, status);
  return `--- ${endName(names.before)}\n+++ ${endName(names.after)}\n`;
}

/** Ends a name that contains spaces with a tab, as Git does, so that `patch` reads it completely. */
function endName(name: string): string {
  return name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name;
}

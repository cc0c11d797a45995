import { diffLines } from "../files/changes/diff-lines.ts";
import { formatHunks, splitLines } from "../files/changes/format-hunks.ts";
import type { FileChange } from "./file-change.ts";
import type { FollowedSession } from "./followed-session.ts";

/** The largest file whose lines are compared. */
const MAX_BYTES = 2 * 1024 ** 2;
const MAX_COMPARISONS = 20_000_000;

/** The lines that differ, or why they are not shown. */
export type FileDiff = { readonly diff: string } | { readonly problem: string };

/** Compares the versions of a file, if their contents are kept. */
export async function describeDiff(session: FollowedSession, file: FileChange): Promise<FileDiff> {
  const [before, after] = await Promise.all([
    readVersion(session, file.before, file.bytesBefore),
    readVersion(session, file.after, file.bytesAfter),
  ]);
  const problem = before.problem ?? after.problem;
  if (problem !== null) return { problem };
  const lines = { before: splitLines(before.text), after: splitLines(after.text) };
  const edits = diffLines(lines.before, lines.after, { comparisons: MAX_COMPARISONS });
  return { diff: formatHunks({ ...lines, edits }) };
}

interface Version {
  readonly text: string;
  readonly problem: string | null;
}

async function readVersion(
  session: FollowedSession,
  sha256: string | null,
  bytes: number | null,
): Promise<Version> {
  if (sha256 === null) return { text: "", problem: null };
  if (bytes === null || bytes > MAX_BYTES)
    return createProblem("The file is too large to be compared.");
  if (!session.hasContents) {
    return createProblem(
      "The session has only digests of files. Start wink inspect with --files and the workspace's persistDir.",
    );
  }
  const content = await session.readBytes(sha256, bytes);
  if (content === null) return createProblem("The contents of this version are no longer kept.");
  if (content.includes(0)) return createProblem("The file is not text.");
  return { text: new TextDecoder().decode(content), problem: null };
}

function createProblem(problem: string): Version {
  return { text: "", problem };
}

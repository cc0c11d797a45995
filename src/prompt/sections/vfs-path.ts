import { WinkError } from "../../base/errors.ts";
import { show } from "../../base/show.ts";

const MOST_SEGMENTS = 16;
const LONGEST_SEGMENT = 80;

/** The most bytes that the write tools take at once. */
export const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Returns `path` if the file tools take it from a model: plain names in ASCII, not too long and not
 * too deep. File systems take more; these limits are the tools' own.
 */
export function checkToolPath(path: string): string {
  if (path === ".") return path;
  const segments = path.split("/");
  const problem =
    segments.length > MOST_SEGMENTS
      ? `is ${segments.length} levels deep; at most ${MOST_SEGMENTS} are allowed`
      : segments.map(segmentProblem).find((one) => one !== null);
  if (!problem) return path;
  throw new WinkError(`The path ${show(path)} ${problem}: write one like "docs/notes.md"`);
}

/** Refuses a text that is too large to be written at once. */
export function checkToolText(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MOST_BYTES) return text;
  throw new WinkError(`The text has ${bytes} bytes: write at most ${MOST_BYTES} at once`);
}

function segmentProblem(segment: string): string | null {
  if (segment === "") return "starts or ends with a slash, or has two in a row";
  if (segment === "." || segment === "..") return `has a "${segment}" in it`;
  if (!/^[\x20-\x7e]+$/.test(segment)) return "is not plain ASCII";
  return segment.length <= LONGEST_SEGMENT
    ? null
    : `has a name of more than ${LONGEST_SEGMENT} characters`;
}

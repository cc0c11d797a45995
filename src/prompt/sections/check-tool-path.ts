import { WinkError } from "../../base/errors.ts";
import { quoteValue } from "../../base/quote-value.ts";

const MAX_SEGMENTS = 16;
const MAX_SEGMENT_LENGTH = 80;

/** Maximum size of a text that the write tools accept, in bytes. */
export const MAX_WRITE_BYTES = 32 * 1024 * 1024;

/**
 * Returns `path` if the file tools accept it from a model: ASCII names, limited in length and
 * depth. File systems themselves accept more; these limits apply to the tools only.
 */
export function checkToolPath(path: string): string {
  if (path === ".") return path;
  const segments = path.split("/");
  const problem =
    segments.length > MAX_SEGMENTS
      ? `is ${segments.length} levels deep; at most ${MAX_SEGMENTS} are allowed`
      : segments.map(findSegmentProblem).find((one) => one !== null);
  if (!problem) return path;
  throw new WinkError(
    `The path ${quoteValue(path)} ${problem}. Use a path such as "docs/notes.md".`,
  );
}

/** Rejects a text that is too large to write in one call. */
export function checkToolText(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MAX_WRITE_BYTES) return text;
  throw new WinkError(
    `The text has ${bytes} bytes. Write at most ${MAX_WRITE_BYTES} bytes at once.`,
  );
}

function findSegmentProblem(segment: string): string | null {
  if (segment === "") return "starts or ends with a slash, or has two in a row";
  if (segment === "." || segment === "..") return `contains "${segment}"`;
  if (!/^[\x20-\x7e]+$/.test(segment)) return "is not plain ASCII";
  return segment.length <= MAX_SEGMENT_LENGTH
    ? null
    : `has a name longer than ${MAX_SEGMENT_LENGTH} characters`;
}

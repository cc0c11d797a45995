/** Nesting above which partial output is not parsed. */
const MAX_DEPTH = 100;

/**
 * Completes the start of a JSON text, so that it can be parsed: closes its open strings, lists and
 * objects, and drops a last key, number or literal that may be incomplete. Returns `null` if there
 * is no object or list at `start`, or if it is nested more than 100 levels deep.
 */
export function completeJson(text: string, start: number): string | null {
  const closers: string[] = [];
  let isKeyNext = false;
  /** Index at which the text may end, if the open brackets are closed after it. */
  let end = start;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (char === '"') {
      const close = findStringEnd(text, index + 1);
      if (close.isOpen) {
        if (isKeyNext) break;
        return `${text.slice(start, close.end)}"${join(closers)}`;
      }
      index = close.end;
      if (!isKeyNext) end = index + 1;
    } else if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      if (closers.length > MAX_DEPTH) return null;
      isKeyNext = char === "{";
      end = index + 1;
    } else if (char === "}" || char === "]") {
      closers.pop();
      isKeyNext = false;
      end = index + 1;
      if (closers.length === 0) break;
    } else if (char === ",") {
      isKeyNext = closers.at(-1) === "}";
      end = index;
    } else if (char === ":") isKeyNext = false;
  }
  return end === start ? null : text.slice(start, end) + join(closers);
}

/**
 * Finds the end of a string: the index of its closing quote, or, if the text ends before that, the
 * index after its last complete character.
 */
function findStringEnd(
  text: string,
  start: number,
): { readonly end: number; readonly isOpen: boolean } {
  let index = start;
  while (index < text.length) {
    const char = text[index];
    if (char === '"') return { end: index, isOpen: false };
    if (char !== "\\") {
      index += 1;
      continue;
    }
    const length = text[index + 1] === "u" ? 6 : 2;
    if (index + length > text.length) return { end: index, isOpen: true };
    index += length;
  }
  return { end: index, isOpen: true };
}

function join(closers: readonly string[]): string {
  return closers.toReversed().join("");
}

import { escapeExpression } from "../filesystem/star-expression.ts";

/** A set like `[a-c]` of a `.gitignore` rule, as an expression, and the index after it. */
export interface GitignoreSet {
  readonly expression: string;
  readonly end: number;
}

/** Parses the set that starts at `start`. Returns `null` for a set that git rejects. */
export function parseGitignoreSet(pattern: string, start: number): GitignoreSet | null {
  const isNegated = /[!^]/.test(pattern.charAt(start + 1));
  const first = start + (isNegated ? 2 : 1);
  const members: string[] = [];
  /** The start of a possible range, or `""` after a range or a class. */
  let from = "";
  let at = first;
  while (at === first || pattern[at] !== "]") {
    const member = parseMember(pattern, at, from);
    if (member === null) return null;
    members.push(member.expression);
    from = member.from;
    at = member.end;
  }
  return { expression: `[${isNegated ? "^" : ""}${members.join("")}]`, end: at + 1 };
}

interface Member extends GitignoreSet {
  readonly from: string;
}

function parseMember(pattern: string, at: number, from: string): Member | null {
  const next = pattern[at + 1];
  const isRange = pattern[at] === "-" && from !== "" && next !== undefined && next !== "]";
  if (isRange) {
    const last = readCharacter(pattern, at + 1);
    if (last === null) return null;
    const { character, end } = last;
    const range = `${escapeExpression(from)}-${escapeExpression(character)}`;
    return { expression: from <= character ? range : "", from: "", end };
  }
  if (pattern.startsWith("[:", at)) {
    const close = pattern.indexOf("]", at + 2);
    if (close < 0) return null;
    const name = pattern.slice(at + 2, close);
    if (name.endsWith(":")) {
      const expression = CLASSES.get(name.slice(0, -1));
      return expression === undefined ? null : { expression, from: "", end: close + 1 };
    }
  }
  const one = readCharacter(pattern, at);
  if (one === null) return null;
  return { expression: escapeExpression(one.character), from: one.character, end: one.end };
}

/** Reads a character, which may be escaped. Returns `null` at the end of the pattern. */
function readCharacter(pattern: string, at: number) {
  const start = pattern[at] === "\\" ? at + 1 : at;
  const character = pattern[start];
  return character === undefined ? null : { character, end: start + 1 };
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "a-zA-Z0-9"],
  ["alpha", "a-zA-Z"],
  ["blank", " \\t"],
  ["cntrl", "\\x00-\\x1f\\x7f"],
  ["digit", "0-9"],
  ["graph", "\\x21-\\x7e"],
  ["lower", "a-z"],
  ["print", "\\x20-\\x7e"],
  ["punct", "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e"],
  ["space", " \\t\\n\\r"],
  ["upper", "A-Z"],
  ["xdigit", "a-fA-F0-9"],
]);

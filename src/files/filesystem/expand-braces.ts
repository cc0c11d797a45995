import { FilesystemError } from "../../base/filesystem-error.ts";

/** More alternatives would make matching slow, and a short pattern can have billions. */
const MAX_ALTERNATIVES = 256;

/** Matches sets, which may contain braces, and escaped braces and commas. */
const TOKEN = /\[(?=(!?\]?))\1[^\]]*\]|\\[{},]|./gsu;

/**
 * Expands `{a,b}` to one pattern per alternative. Braces may be nested. A backslash makes a brace or a comma
 * literal. Braces without a comma, without a partner or within a set (`[{]`) are ordinary characters. Throws
 * `FilesystemError` if there are more than 256 alternatives.
 */
export function expandBraces(pattern: string): readonly string[] {
  if (!pattern.includes("{")) return [pattern.replace(/\\([{},])/g, "$1")];
  const root = parseGroup(pattern);
  if (countAlternatives(root) > MAX_ALTERNATIVES) {
    throw FilesystemError.invalid(
      pattern,
      `has braces with more than ${MAX_ALTERNATIVES} alternatives. Split it into several patterns.`,
    );
  }
  return listAlternatives(root);
}

/** Alternatives, each of which is a sequence of texts and nested groups. */
interface Group {
  readonly alternatives: (string | Group)[][];
}

function parseGroup(pattern: string): Group {
  const tokens = Array.from(pattern.matchAll(TOKEN), ([token]) => token);
  const closed = findClosedBraces(tokens);
  const root: Group = { alternatives: [[]] };
  const outer: Group[] = [];
  let group = root;
  for (const [index, token] of tokens.entries()) {
    const parent = token === "}" ? outer.at(-1) : undefined;
    if (token === "{" && closed.has(index)) {
      outer.push(group);
      group = { alternatives: [[]] };
    } else if (parent) {
      if (group.alternatives.length > 1) addPart(parent, group);
      else for (const part of ["{", ...group.alternatives.flat(), "}"]) addPart(parent, part);
      outer.pop();
      group = parent;
    } else if (token === "," && outer.length > 0) group.alternatives.push([]);
    else addPart(group, token.length === 2 && token.startsWith("\\") ? token.slice(1) : token);
  }
  return root;
}

/** Returns the indexes of the opening braces that have a closing brace. */
function findClosedBraces(tokens: readonly string[]): ReadonlySet<number> {
  const open: number[] = [];
  const closed = new Set<number>();
  for (const [index, token] of tokens.entries()) {
    if (token === "{") open.push(index);
    const last = token === "}" ? open.pop() : undefined;
    if (last !== undefined) closed.add(last);
  }
  return closed;
}

/** Adds a part to the last alternative of a group. Joins adjacent texts. */
function addPart({ alternatives }: Group, part: string | Group): void {
  const parts = alternatives.at(-1) ?? [];
  const last = parts.at(-1);
  if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
  else parts.push(part);
}

function countAlternatives({ alternatives }: Group): number {
  let sum = 0;
  for (const parts of alternatives) {
    let product = 1;
    for (const part of parts) if (typeof part !== "string") product *= countAlternatives(part);
    sum += product;
  }
  return sum;
}

function listAlternatives({ alternatives }: Group): readonly string[] {
  return alternatives.flatMap((parts) => {
    let texts: readonly string[] = [""];
    for (const part of parts) {
      const ends = typeof part === "string" ? [part] : listAlternatives(part);
      texts = texts.flatMap((text) => ends.map((end) => text + end));
    }
    return texts;
  });
}

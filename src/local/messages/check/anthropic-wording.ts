import type { ApiProblem } from "../../api-problem.ts";
import type { Kind, Wording } from "../../validators/wording.ts";
import { createInvalidProblem } from "./invalid-problem.ts";

/** Anthropic's error messages: `messages.0.role: Field required`. */
export const anthropicWording: Wording = {
  joinPath,
  wrongKind: (path, expected) => {
    const nouns = expected.map((kind) => NOUNS[kind]);
    return createInvalidProblem(path, `Input should be a valid ${nouns.join(" or ")}`);
  },
  missing: (path) => createInvalidProblem(path, "Field required"),
  unknownField: (path) => createInvalidProblem(path, "Extra inputs are not permitted"),
  notOneOf: (path, _value, known) => {
    const quoted = known.map((word) => `'${word}'`);
    const last = quoted.pop();
    const all = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
    return createInvalidProblem(path, `Input should be ${all}`);
  },
  unknownType,
  outOfBounds: (path, { kind, side, limit }) => {
    if (kind === "integer" || kind === "decimal") {
      const relation = side === "min" ? "greater" : "less";
      return createInvalidProblem(path, `Input should be ${relation} than or equal to ${limit}`);
    }
    const [noun, unit] = LENGTHS[kind];
    const least = side === "min" ? "least" : "most";
    return createInvalidProblem(
      path,
      `${noun} should have at ${least} ${limit} ${unit}${limit === 1 ? "" : "s"}`,
    );
  },
  mismatch: (path, pattern) =>
    createInvalidProblem(path, `String should match pattern '${pattern.source}'`),
};

const NOUNS: Readonly<Record<Kind, string>> = {
  boolean: "boolean",
  object: "dictionary",
  string: "string",
  integer: "integer",
  decimal: "number",
  array: "list",
};

const LENGTHS = {
  string: ["String", "character"],
  array: ["List", "item"],
  object: ["Dictionary", "item"],
} as const;

/** Returns the path of a field or an array item: `messages.0.content`. `""` is the body. */
export function joinPath(path: string, key: string | number): string {
  return path === "" ? String(key) : `${path}.${key}`;
}

/** `Input tag 'x' found using 'type' does not match any of the expected tags: 'text', …` */
function unknownType(
  path: string,
  key: string,
  type: string,
  known: readonly string[],
): ApiProblem {
  const tags = known.map((tag) => `'${tag}'`).join(", ");
  const found = `Input tag '${type}' found using '${key}' does not match any of the expected tags`;
  return createInvalidProblem(path, `${found}: ${tags}`);
}

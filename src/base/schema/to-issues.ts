import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  describeMismatch,
  describeViolation,
  type Problem,
  type Violation,
} from "./describe-violation.ts";

/** Converts violations to issues that a model can act on, in the order in which they were found. */
export function toIssues(violations: readonly Violation[]): readonly StandardSchemaV1.Issue[] {
  const problems = explainViolations(violations);
  const issues = problems.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path, message }));
  if (issues.length === 0) return [{ message: "must match its schema" }];
  const rest = problems.length - issues.length;
  return rest > 0 ? [...issues, { message: `${rest} more problems like these` }] : issues;
}

/** Maximum number of issues. The model reads all of them, at the cost of tokens. */
const MAX_ISSUES = 20;

/**
 * Keywords that only report that a nested schema was violated. The violations themselves follow.
 */
const wrappers: ReadonlySet<string> = new Set([
  ...["$ref", "allOf", "if", "dependentSchemas", "properties", "patternProperties"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["prefixItems", "items", "unevaluatedItems"],
]);

function explainViolations(violations: readonly Violation[]): readonly Problem[] {
  const problems: Problem[] = [];
  let last = "";
  for (let index = 0; index < violations.length; index++) {
    const violation = violations[index];
    if (!violation || wrappers.has(violation.keyword)) continue;
    if (violation.keyword === "anyOf" || violation.keyword === "oneOf") {
      const end = findEndOfAlternatives(violations, index);
      const inside = violations.slice(index + 1, end);
      problems.push(...explainAlternatives(violation, collectAlternatives(violation, inside)));
      index = end - 1;
      continue;
    }
    const place = JSON.stringify([violation.location, violation.path]);
    // The validator repeats `required`.
    if (place !== last) problems.push(...describeViolation(violation));
    last = place;
  }
  return problems;
}

function findEndOfAlternatives(violations: readonly Violation[], start: number): number {
  const below = `${violations[start]?.location}/`;
  let end = start + 1;
  while (violations[end]?.location.startsWith(below)) end++;
  return end;
}

/** Returns the problems of each alternative that the value does not match. */
function collectAlternatives(
  { location }: Violation,
  inside: readonly Violation[],
): readonly (readonly Problem[])[] {
  const branches = new Map<string, Violation[]>();
  for (const violation of inside) {
    const [branch = ""] = violation.location.slice(location.length + 1).split("/", 1);
    const found = branches.get(branch) ?? [];
    branches.set(branch, found);
    found.push(violation);
  }
  return [...branches.values()].map(explainViolations);
}

/**
 * Explains why a value matches no schema, or too many, in `anyOf` or `oneOf`. If the
 * type or a property such as `kind` selects one alternative, only its problems are returned.
 */
function explainAlternatives(
  violation: Violation,
  failed: readonly (readonly Problem[])[],
): readonly Problem[] {
  const { path, keyword, schema } = violation;
  const all: number = Object(schema)[keyword].length;
  const matched = all - failed.length;
  if (matched > 0) {
    const message = `must match exactly one of ${all} alternatives, matches ${matched}`;
    return [{ path, message }];
  }
  const depth = path.length;
  const ofType = filterOrAll(failed, (problems) => !problems.some((one) => isMismatch(one, depth)));
  const meant = filterOrAll(ofType, (problems) => !problems.some((one) => isOtherKind(one, depth)));
  if (meant.length === 1) return meant[0] ?? [];
  return [mergeMismatches(meant) ?? summarize(meant, path)];
}

/** Returns the items that pass the test, or all items if none passes. */
function filterOrAll<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly Item[] {
  const kept = items.filter(test);
  return kept.length > 0 ? kept : items;
}

/** Returns whether the value itself has the wrong type or is the wrong constant. */
function isMismatch({ expected, path }: Problem, depth: number): boolean {
  return expected !== undefined && path.length === depth;
}

/** Returns whether a property such as `kind` has a value that selects a different alternative. */
function isOtherKind({ expected, path }: Problem, depth: number): boolean {
  return expected?.by === "value" && path.length === depth + 1;
}

/** Returns one problem for alternatives that expect different values at the same path. */
function mergeMismatches(alternatives: readonly (readonly Problem[])[]): Problem | undefined {
  const [first = [], ...rest] = alternatives;
  for (const { path, expected } of first) {
    const same = rest.map((problems) => problems.find((one) => hasPath(one, path))?.expected);
    if (!expected || same.includes(undefined)) continue;
    const all = [expected, ...same].filter((one) => one !== undefined);
    const choices = all.flatMap((one) => one.choices);
    const others = all.reduce((sum, one) => sum + one.others, 0);
    const merged = { ...expected, choices, others };
    return { path, message: describeMismatch(merged), expected: merged };
  }
  return undefined;
}

function hasPath({ path }: Problem, place: Problem["path"]): boolean {
  return path.length === place.length && path.every((step, index) => step === place[index]);
}

const MAX_SHOWN = 3;

/** Returns one problem with the first reason against each alternative. */
function summarize(alternatives: readonly (readonly Problem[])[], path: Problem["path"]): Problem {
  const reasons = alternatives.slice(0, MAX_SHOWN).map(([problem], index) => {
    const place = problem?.path.slice(path.length).join(".");
    return `(${index + 1}) ${place ? `${place} ` : ""}${problem?.message}`;
  });
  const rest = alternatives.length - reasons.length;
  const more = rest > 0 ? [`${rest} others`] : [];
  return { path, message: `must match an alternative: ${[...reasons, ...more].join(", or ")}` };
}

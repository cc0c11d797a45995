import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  describeMismatch,
  describeViolation,
  type Problem,
  type Violation,
} from "./describe-violation.ts";

/** Turns violations into issues that a model can act on, in the order in which they were found. */
export function toIssues(violations: readonly Violation[]): readonly StandardSchemaV1.Issue[] {
  const problems = explain(violations);
  const issues = problems.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path, message }));
  if (issues.length === 0) return [{ message: "must match its schema" }];
  const rest = problems.length - issues.length;
  return rest > 0 ? [...issues, { message: `${rest} more problems like these` }] : issues;
}

/** A model reads them all, and pays for it. */
const MAX_ISSUES = 20;

/** Keywords that only repeat that a schema below them was violated: its violations come next. */
const wrappers: ReadonlySet<string> = new Set([
  ...["$ref", "allOf", "if", "dependentSchemas", "properties", "patternProperties"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["prefixItems", "items", "unevaluatedItems"],
]);

function explain(violations: readonly Violation[]): readonly Problem[] {
  const problems: Problem[] = [];
  let last = "";
  for (let index = 0; index < violations.length; index++) {
    const violation = violations[index];
    if (!violation || wrappers.has(violation.keyword)) continue;
    if (violation.keyword === "anyOf" || violation.keyword === "oneOf") {
      const end = endOfAlternatives(violations, index);
      const inside = violations.slice(index + 1, end);
      problems.push(...explainAlternatives(violation, alternativesIn(violation, inside)));
      index = end - 1;
      continue;
    }
    const place = JSON.stringify([violation.location, violation.path]);
    if (place !== last) problems.push(...describeViolation(violation)); // `required` is repeated
    last = place;
  }
  return problems;
}

function endOfAlternatives(violations: readonly Violation[], start: number): number {
  const below = `${violations[start]?.location}/`;
  let end = start + 1;
  while (violations[end]?.location.startsWith(below)) end++;
  return end;
}

/** The problems of each alternative that the value does not match. */
function alternativesIn(
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
  return [...branches.values()].map(explain);
}

/**
 * Explains why a value matches none of the schemas in `anyOf` or `oneOf`, or too many of them. If one
 * of them is clearly meant, by its type or by a property such as `kind`, only its problems are shown.
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
  const ofType = keepSome(failed, (problems) => !problems.some((one) => isMismatch(one, depth)));
  const meant = keepSome(ofType, (problems) => !problems.some((one) => isOtherKind(one, depth)));
  if (meant.length === 1) return meant[0] ?? [];
  return [mergeMismatches(meant) ?? summarize(meant, path)];
}

/** The items that pass, or all of them if none does. */
function keepSome<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly Item[] {
  const kept = items.filter(test);
  return kept.length > 0 ? kept : items;
}

/** Whether the value itself has another type, or is another constant. */
function isMismatch({ expected, path }: Problem, depth: number): boolean {
  return expected !== undefined && path.length === depth;
}

/** Whether one of its properties has the value that tells another alternative apart. */
function isOtherKind({ expected, path }: Problem, depth: number): boolean {
  return expected?.by === "value" && path.length === depth + 1;
}

/** One problem for alternatives that differ in what they expect at the same place. */
function mergeMismatches(alternatives: readonly (readonly Problem[])[]): Problem | undefined {
  const [first = [], ...rest] = alternatives;
  for (const { path, expected } of first) {
    const same = rest.map((problems) => problems.find((one) => isAt(one, path))?.expected);
    if (!expected || same.includes(undefined)) continue;
    const all = [expected, ...same].filter((one) => one !== undefined);
    const choices = all.flatMap((one) => one.choices);
    const others = all.reduce((sum, one) => sum + one.others, 0);
    const merged = { ...expected, choices, others };
    return { path, message: describeMismatch(merged), expected: merged };
  }
  return undefined;
}

function isAt({ path }: Problem, place: Problem["path"]): boolean {
  return path.length === place.length && path.every((step, index) => step === place[index]);
}

const MAX_SHOWN = 3;

/** One problem that gives the first reason against each alternative. */
function summarize(alternatives: readonly (readonly Problem[])[], path: Problem["path"]): Problem {
  const reasons = alternatives.slice(0, MAX_SHOWN).map(([problem], index) => {
    const place = problem?.path.slice(path.length).join(".");
    return `(${index + 1}) ${place ? `${place} ` : ""}${problem?.message}`;
  });
  const rest = alternatives.length - reasons.length;
  const more = rest > 0 ? [`${rest} others`] : [];
  return { path, message: `must match an alternative: ${[...reasons, ...more].join(", or ")}` };
}

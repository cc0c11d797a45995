import { isPlainObject } from "../../base/freeze.ts";
import { invalidType } from "../api-problem.ts";
import {
  array,
  object,
  recordOf,
  string,
  unionByTag,
  type Validator,
} from "../validators/validator.ts";

/** User-defined attributes of a file, for filtering. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

const scalar: Validator = (value, path) =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    ? null
    : invalidType(path, "one of a string, a number or a boolean", value);

const stringOrNumber: Validator = (value, path) =>
  typeof value === "string" || Number.isFinite(value)
    ? null
    : invalidType(path, "one of a string or a number", value);

const attribute: Validator = (value, path) =>
  typeof value === "string" ? string({ max: 512 })(value, path) : scalar(value, path);

/** Validates `attributes`: at most 16, with strings of at most 512 characters. */
export const attributesShape: Validator = recordOf(attribute, { keys: 16, keyLength: 64 });

const createComparisonShape = (value: Validator) =>
  object({ type: string(), key: string(), value });
const one = createComparisonShape(scalar);
const many = createComparisonShape(array(stringOrNumber));
const compound = object({
  type: string(),
  filters: array((value, path) => filterShape(value, path)),
});

/** Validates `filters`: a comparison, or `and` and `or` of filters. */
export const filterShape: Validator = unionByTag({
  ...{ eq: one, ne: one, gt: one, gte: one, lt: one, lte: one },
  ...{ in: many, nin: many, and: compound, or: compound },
});

/** Whether attributes match a filter of the shape above. `null` matches every file. */
export function matchesFilter(attributes: Attributes, filter: unknown): boolean {
  if (!isPlainObject(filter)) return true;
  const { type, key, value, filters } = filter;
  const parts = Array.isArray(filters) ? filters : [];
  if (type === "and") return parts.every((part) => matchesFilter(attributes, part));
  if (type === "or") return parts.some((part) => matchesFilter(attributes, part));
  const name = String(key);
  const actual = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  return matchesComparison(String(type), actual, value);
}

/** Compares one attribute. A missing attribute is unequal to everything, and neither greater nor less. */
function matchesComparison(operator: string, actual: unknown, value: unknown): boolean {
  switch (operator) {
    case "eq":
      return actual === value;
    case "ne":
      return actual !== value;
    case "in":
      return Array.isArray(value) && value.includes(actual);
    case "nin":
      return Array.isArray(value) && !value.includes(actual);
    default:
      return matchesOrder(operator, compareValues(actual, value));
  }
}

function matchesOrder(operator: string, difference: number): boolean {
  if (operator === "gt") return difference > 0;
  if (operator === "gte") return difference >= 0;
  return operator === "lt" ? difference < 0 : difference <= 0;
}

/** Orders numbers by size and strings by their characters, like ISO dates. Other values have no order. */
function compareValues(actual: unknown, value: unknown): number {
  if (typeof actual === "number" && typeof value === "number") return actual - value;
  if (typeof actual !== "string" || typeof value !== "string") return Number.NaN;
  return actual < value ? -1 : actual > value ? 1 : 0;
}

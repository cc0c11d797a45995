import { isPlainObject } from "../../../base/freeze.ts";
import { quoteNames } from "../../../base/quote-value.ts";
import type { LocalToolItem } from "../local-tool.ts";
import {
  checkFunctions,
  checkKeys,
  checkNonBlank,
  type NameReservation,
  OMIT_REMEDY,
  reserveName,
  throwInvalidOption,
} from "./option-checks.ts";

const KEYS = [
  ...["check", "events", "includes", "answer", "needsAnswer", "toCall", "toResult"],
  ...["containerAt", "needsContainer"],
];

/** Validates `items` of a `LocalTool`. */
export function checkItems(items: unknown, field: string, taking: NameReservation): void {
  if (!isPlainObject(items) || Object.keys(items).length === 0)
    throwInvalidOption(
      field,
      items,
      "must contain at least one item type",
      "use { my_tool_call: {} }",
    );
  for (const [type, item] of Object.entries(items)) {
    const place = `${field}.${type}`;
    reserveName(type, place, taking);
    checkKeys(item, place, KEYS);
    checkFunctions(item, place, ["check", "events", "needsAnswer", "toCall", "toResult"]);
    checkItem(item, place, { type, types: Object.keys(items) });
  }
}

function checkItem(
  item: LocalToolItem,
  field: string,
  { type, types }: { readonly type: string; readonly types: readonly string[] },
): void {
  const { answer, needsAnswer, containerAt, includes = {} } = item;
  const others = types.filter((one) => one !== type);
  if (answer !== undefined && !others.includes(answer)) {
    const rule = `must be another item type of the tool${others.length > 0 ? `: ${quoteNames(others)}` : ""}`;
    throwInvalidOption(`${field}.answer`, answer, rule, "add that type to items, or omit answer");
  }
  if (needsAnswer && answer === undefined)
    throwInvalidOption(
      `${field}.needsAnswer`,
      needsAnswer,
      "must be combined with answer",
      "set answer, or omit it",
    );
  if (containerAt !== undefined) {
    if (!Array.isArray(containerAt) || containerAt.length === 0)
      throwInvalidOption(
        `${field}.containerAt`,
        containerAt,
        "must be an array of keys",
        'use ["container_id"]',
      );
    for (const [place, key] of containerAt.entries())
      checkNonBlank(key, `${field}.containerAt[${place}]`);
  }
  if (!isPlainObject(includes))
    throwInvalidOption(`${field}.includes`, includes, "must be an object", OMIT_REMEDY);
  for (const [value, without] of Object.entries(includes)) {
    const place = `${field}.includes`;
    if (!value.startsWith(`${type}.`))
      throwInvalidOption(
        place,
        value,
        `must have keys that start with "${type}."`,
        `use "${type}.details"`,
      );
    if (typeof without !== "function")
      throwInvalidOption(`${place}["${value}"]`, without, "must be a function", "use (item) => …");
  }
}

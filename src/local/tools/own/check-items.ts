import { isPlainObject } from "../../../base/freeze.ts";
import { list } from "../../../base/show.ts";
import type { LocalToolItem } from "../local-tool.ts";
import {
  checkFunctions,
  checkKeys,
  checkText,
  LEAVE_OUT,
  refuse,
  type Taking,
  takeName,
} from "./option-checks.ts";

const KEYS = [
  ...["check", "events", "includes", "answer", "needsAnswer", "toCall", "toResult"],
  ...["containerAt", "needsContainer"],
];

/** Checks `items` of a `LocalTool`. */
export function checkItems(items: unknown, field: string, taking: Taking): void {
  if (!isPlainObject(items) || Object.keys(items).length === 0)
    refuse(field, items, "must have a type of item", "write { my_tool_call: {} }");
  for (const [type, item] of Object.entries(items)) {
    const place = `${field}.${type}`;
    takeName(type, place, taking);
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
    const rule = `must be another type of the tool's items${others.length > 0 ? `: ${list(others)}` : ""}`;
    refuse(`${field}.answer`, answer, rule, "add that type to items, or leave answer out");
  }
  if (needsAnswer && answer === undefined)
    refuse(
      `${field}.needsAnswer`,
      needsAnswer,
      "must go with answer",
      "set answer, or leave it out",
    );
  if (containerAt !== undefined) {
    if (!Array.isArray(containerAt) || containerAt.length === 0)
      refuse(
        `${field}.containerAt`,
        containerAt,
        "must be a list of keys",
        'write ["container_id"]',
      );
    for (const [place, key] of containerAt.entries())
      checkText(key, `${field}.containerAt[${place}]`);
  }
  if (!isPlainObject(includes))
    refuse(`${field}.includes`, includes, "must be an object", LEAVE_OUT);
  for (const [value, without] of Object.entries(includes)) {
    const place = `${field}.includes`;
    if (!value.startsWith(`${type}.`))
      refuse(place, value, `must have keys that begin with "${type}."`, `write "${type}.details"`);
    if (typeof without !== "function")
      refuse(`${place}["${value}"]`, without, "must be a function", "write (item) => …");
  }
}

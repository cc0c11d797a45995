import { InvalidOptionError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { list } from "../../../base/show.ts";

/** What to do about an optional field with a wrong value. */
export const LEAVE_OUT = "leave it out, or give what LocalTool says";

/** Names of types on the wire: of tools and of items. */
export const WIRE_NAME = /^[a-z0-9_-]{1,64}$/;

/** Names of functions that a model calls. */
export const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Names that are taken, and by what. */
export type TakenNames = Map<string, string>;

/** Refuses a name that is malformed or taken, and takes it for `by`. */
export function takeName(
  name: unknown,
  field: string,
  { names, by, pattern = WIRE_NAME }: Taking,
): asserts name is string {
  if (typeof name !== "string" || !pattern.test(name)) {
    const letters = pattern === WIRE_NAME ? "a-z" : "a-z, A-Z";
    refuse(field, name, `must be 1-64 of ${letters}, 0-9, _ and -`, 'write it like "my_tool"');
  }
  const owner = names.get(name);
  if (owner !== undefined)
    refuse(field, name, `must not be a name of ${owner}`, "choose another name");
  names.set(name, by);
}

/** How a name is taken. */
export interface Taking {
  readonly names: TakenNames;
  readonly by: string;
  /** @default that of types on the wire */
  readonly pattern?: RegExp;
}

/** Refuses what is no object, and fields that are unknown. */
export function checkKeys(
  value: unknown,
  field: string,
  known: readonly string[],
): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(field, value, "must be an object", `give it ${list(known)}`);
  if (!isPlainObject(value)) return; // an instance may have fields of its own
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const rule = `must be one of ${list(known)}`;
  refuse(`${field}.${unknown}`, value[unknown], rule, "leave it out, or correct its spelling");
}

/** Refuses fields that are there and are no functions. */
export function checkFunctions(value: object, field: string, names: readonly string[]): void {
  for (const name of names) {
    const given: unknown = Reflect.get(value, name);
    if (given === undefined || typeof given === "function") continue;
    refuse(`${field}.${name}`, given, "must be a function", LEAVE_OUT);
  }
}

/** Refuses what is no text, or blank. */
export function checkText(value: unknown, field: string): void {
  if (typeof value === "string" && value.trim() !== "") return;
  refuse(field, value, "must be a text that is not blank", LEAVE_OUT);
}

/** Throws the error for a wrong option. */
export function refuse(field: string, value: unknown, rule: string, remedy: string): never {
  throw new InvalidOptionError({ field, value, rule, remedy });
}

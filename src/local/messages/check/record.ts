import { isPlainObject } from "../../../base/freeze.ts";
import type { UnknownRecord } from "../../../base/json.ts";
import { assertValid, oneOf, type Validator } from "../../validators/validator.ts";
import { anthropicWording } from "./anthropic-wording.ts";

/** A field that may be missing. Its validator then gets `undefined`. */
export interface OptionalField {
  readonly validator: Validator;
}

/** Accepts objects with at least these fields, checked in this order. Ignores other fields. */
export function record(fields: Readonly<Record<string, Validator | OptionalField>>): Validator {
  const entries = Object.entries(fields);
  return (value, path, words = anthropicWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    for (const [key, field] of entries) {
      const place = words.joinPath(path, key);
      const isRequired = typeof field === "function";
      if (isRequired && !Object.hasOwn(value, key)) return words.missing(place);
      const problem = (isRequired ? field : field.validator)(value[key], place, words);
      if (problem) return problem;
    }
    return null;
  };
}

/** A field that may be missing or `null`. */
export function optional(shape: Validator): OptionalField {
  return {
    validator: (value, path, words) =>
      value === undefined || value === null ? null : shape(value, path, words),
  };
}

/** A field with a fixed set of strings. Anthropic's error lists them even if the field is missing. */
export function tag(...values: readonly string[]): OptionalField {
  return { validator: oneOf(...values) };
}

/** Throws Anthropic's error if the value is invalid. */
export function assertAnthropic(shape: Validator, value: unknown, path: string): void {
  assertValid(shape, value, path, anthropicWording);
}

/** Returns the value as an object. Throws Anthropic's error if it is invalid. */
export function readRecord(shape: Validator, value: unknown, path: string): UnknownRecord {
  assertAnthropic(shape, value, path);
  return isPlainObject(value) ? value : {};
}

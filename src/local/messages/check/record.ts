import { isPlainObject } from "../../../base/freeze.ts";
import type { UnknownRecord } from "../../../base/reading.ts";
import { assertShape, oneOf, type Shape } from "../../validators/shapes.ts";
import { anthropicWording } from "./anthropic-wording.ts";

/** A field that may be absent; its shape is then asked about `undefined`. */
export interface OptionalField {
  readonly shape: Shape;
}

/** An object with at least these fields, which are checked in this order. Others are ignored. */
export function record(fields: Readonly<Record<string, Shape | OptionalField>>): Shape {
  const entries = Object.entries(fields);
  return (value, path, words = anthropicWording) => {
    if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
    for (const [key, field] of entries) {
      const place = words.at(path, key);
      const isRequired = typeof field === "function";
      if (isRequired && !Object.hasOwn(value, key)) return words.missing(place);
      const problem = (isRequired ? field : field.shape)(value[key], place, words);
      if (problem) return problem;
    }
    return null;
  };
}

/** A field that may be absent or `null`. */
export function optional(shape: Shape): OptionalField {
  return {
    shape: (value, path, words) =>
      value === undefined || value === null ? null : shape(value, path, words),
  };
}

/** A field with one of a few strings. If it is absent, Anthropic lists them too. */
export function tag(...values: readonly string[]): OptionalField {
  return { shape: oneOf(...values) };
}

/** Throws what is wrong with a value, in Anthropic's words. */
export function check(shape: Shape, value: unknown, path: string): void {
  assertShape(shape, value, path, anthropicWording);
}

/** Returns an object of the shape, or throws what is wrong with it, in Anthropic's words. */
export function checkRecord(shape: Shape, value: unknown, path: string): UnknownRecord {
  check(shape, value, path);
  return isPlainObject(value) ? value : {};
}

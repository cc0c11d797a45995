import { isPlainObject } from "../freeze.ts";
import { applicators } from "./json-schema-keywords.ts";

/** A schema within a schema, with its place as a JSON pointer such as `#/properties/a`. */
export interface Subschema {
  readonly schema: unknown;
  readonly pointer: string;
}

/**
 * Yields a schema and every schema in it, outer ones first. What is in a schema is read only after
 * it was yielded, so a caller can check each one before its keywords are followed.
 */
export function* subschemasOf(root: unknown): Generator<Subschema> {
  const found: Subschema[] = [{ schema: root, pointer: "#" }];
  for (const place of found) {
    yield place;
    for (const keyword of keywordsOf(place.schema)) {
      for (const child of childrenOf(place, keyword)) found.push(child);
    }
  }
}

/** The schemas directly below one keyword of a schema. */
export function childrenOf({ schema, pointer }: Subschema, keyword: string): readonly Subschema[] {
  const value = isPlainObject(schema) ? schema[keyword] : undefined;
  const place = `${pointer}/${keyword}`;
  const kind = applicators.get(keyword);
  if (value === undefined || kind === undefined) return [];
  if (kind === "schema") return [{ schema: value, pointer: place }];
  return Object.entries(Object(value)).map(([name, child]) => ({
    schema: child,
    pointer: `${place}/${escapeStep(name)}`,
  }));
}

function keywordsOf(schema: unknown): readonly string[] {
  return isPlainObject(schema) ? Object.keys(schema) : [];
}

/** The steps of a JSON pointer in URI form: `"#/a~1b/0"` is `["a/b", "0"]`. `null` if it is none. */
export function readJsonPointer(pointer: string): readonly string[] | null {
  if (pointer === "#") return [];
  if (!pointer.startsWith("#/")) return null;
  try {
    return pointer.slice(2).split("/").map(decodeURIComponent).map(unescapeStep);
  } catch {
    return null; // a "%" that encodes nothing
  }
}

/** A JSON pointer as people read it: `["a/b", "0"]` is `"#/a~1b/0"`, with nothing percent-encoded. */
export function toJsonPointer(steps: readonly string[]): string {
  return ["#", ...steps.map(escapeStep)].join("/");
}

/** Escapes one step of a JSON pointer: `"a/b"` is `"a~1b"`. */
export function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

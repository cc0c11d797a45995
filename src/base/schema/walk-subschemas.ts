import { isPlainObject } from "../freeze.ts";
import { applicators } from "./schema-keywords.ts";

/** A schema within a schema, with its location as a JSON pointer such as `#/properties/a`. */
export interface Subschema {
  readonly schema: unknown;
  readonly pointer: string;
}

/**
 * Yields a schema and its nested schemas, outer schemas first. The keywords of a schema are read
 * only after it was yielded, so that the caller can check each schema first.
 */
export function* walkSubschemas(root: unknown): Generator<Subschema> {
  const found: Subschema[] = [{ schema: root, pointer: "#" }];
  for (const place of found) {
    yield place;
    for (const keyword of listKeywords(place.schema)) {
      for (const child of listChildren(place, keyword)) found.push(child);
    }
  }
}

/** Returns the schemas directly below one keyword of a schema. */
export function listChildren(
  { schema, pointer }: Subschema,
  keyword: string,
): readonly Subschema[] {
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

function listKeywords(schema: unknown): readonly string[] {
  return isPlainObject(schema) ? Object.keys(schema) : [];
}

/**
 * Parses a JSON pointer in URI form: `"#/a~1b/0"` is `["a/b", "0"]`. Returns `null` if it is
 * invalid.
 */
export function parseJsonPointer(pointer: string): readonly string[] | null {
  if (pointer === "#") return [];
  if (!pointer.startsWith("#/")) return null;
  try {
    return pointer.slice(2).split("/").map(decodeURIComponent).map(unescapeStep);
  } catch {
    return null; // An invalid percent-encoding.
  }
}

/** Formats a JSON pointer without percent-encoding: `["a/b", "0"]` is `"#/a~1b/0"`. */
export function formatJsonPointer(steps: readonly string[]): string {
  return ["#", ...steps.map(escapeStep)].join("/");
}

/** Escapes one step of a JSON pointer: `"a/b"` becomes `"a~1b"`. */
export function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

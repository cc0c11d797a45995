import { copyAndFreeze, isPlainObject } from "../freeze.ts";
import { MAX_JSON_DEPTH } from "../json.ts";
import type { JsonSchema } from "./schema.ts";
import { checkKeyword, inPlaceApplicators, rejectSchema } from "./schema-keywords.ts";
import {
  escapeStep,
  formatJsonPointer,
  listChildren,
  parseJsonPointer,
  type Subschema,
  walkSubschemas,
} from "./walk-subschemas.ts";

/** A JSON Schema that has been checked for use with the validator. */
export interface CheckedJsonSchema {
  /** A frozen copy of the caller's schema. */
  readonly schema: JsonSchema;
  readonly targets: RefTargets;
}

/** The schema that each `$ref` points to, by its text. */
export type RefTargets = ReadonlyMap<string, Subschema>;

/**
 * Copies and checks a JSON Schema, so that mistakes are reported before the first value is
 * validated.
 */
export function checkJsonSchema(input: unknown): CheckedJsonSchema {
  if (!isPlainObject(input)) {
    const rule = "must be a plain object";
    const remedy = 'pass a JSON Schema such as { type: "object", properties: { … } }';
    rejectSchema("#", input, { rule, remedy });
  }
  const schema = copyAndFreeze(input);
  checkJson(schema, "#", new Set(), new Set());
  const subschemas: Subschema[] = [];
  for (const place of walkSubschemas(schema)) {
    checkSubschema(place);
    if (subschemas.push(place) > MAX_SUBSCHEMAS) {
      const rule = `must have at most ${MAX_SUBSCHEMAS} subschemas`;
      rejectSchema("#", subschemas.length, { rule, remedy: "move repeated parts into $defs" });
    }
  }
  return { schema, targets: resolveRefs(subschemas) };
}

/** Objects that share parts can be small in memory and still describe billions of subschemas. */
const MAX_SUBSCHEMAS = 10_000;

const plainJson =
  "use plain JSON without undefined, functions, dates, bigints, class instances or cycles";

function checkJson(value: unknown, pointer: string, open: Set<object>, seen: Set<object>): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (!Array.isArray(value) && !isPlainObject(value)) {
    rejectSchema(pointer, value, { rule: "must be JSON", remedy: plainJson });
  }
  if (open.has(value)) {
    rejectSchema(pointer, value, { rule: "must not contain itself", remedy: plainJson });
  }
  if (open.size === MAX_JSON_DEPTH) {
    const rule = `must not be nested more than ${MAX_JSON_DEPTH} levels deep`;
    rejectSchema(pointer, value, { rule, remedy: "move inner schemas into $defs" });
  }
  if (seen.has(value)) return;
  open.add(value);
  for (const [name, part] of Object.entries(value)) {
    if (!name.isWellFormed()) {
      const rule = "must have property names in well-formed Unicode";
      rejectSchema(pointer, name, { rule, remedy: "remove the lone surrogate" });
    }
    checkJson(part, `${pointer}/${escapeStep(name)}`, open, seen);
  }
  open.delete(value);
  seen.add(value);
}

function checkSubschema({ schema, pointer }: Subschema): void {
  if (typeof schema === "boolean") return;
  if (!isPlainObject(schema)) {
    const rule = "must be a schema";
    rejectSchema(pointer, schema, { rule, remedy: "use an object, true or false" });
  }
  for (const [keyword, value] of Object.entries(schema)) {
    checkKeyword(keyword, value, `${pointer}/${escapeStep(keyword)}`);
  }
  if (pointer !== "#" && "$id" in schema) {
    const rule = "must be used only at the root";
    rejectSchema(`${pointer}/$id`, schema["$id"], { rule, remedy: "use $anchor instead" });
  }
}

/**
 * Resolves every `$ref`. Throws for a `$ref` that leaves the schema or refers to itself endlessly.
 */
function resolveRefs(subschemas: readonly Subschema[]): RefTargets {
  const byPointer = new Map(subschemas.map((place) => [place.pointer, place]));
  const byAnchor = collectAnchors(subschemas);
  const targets = new Map<string, Subschema>();
  for (const place of subschemas) {
    const ref = getRef(place);
    if (ref === undefined) continue;
    const steps = parseJsonPointer(ref);
    const target = steps ? byPointer.get(formatJsonPointer(steps)) : byAnchor.get(ref);
    if (!target) {
      const rule = "must point to a schema within this schema";
      const remedy = 'copy the schema into $defs and use "#/$defs/name"';
      rejectSchema(`${place.pointer}/$ref`, ref, { rule, remedy });
    }
    targets.set(ref, target);
  }
  checkLoops(subschemas, targets);
  return targets;
}

function getRef({ schema }: Subschema): string | undefined {
  const ref = isPlainObject(schema) ? schema["$ref"] : undefined;
  return typeof ref === "string" ? ref : undefined;
}

function collectAnchors(subschemas: readonly Subschema[]): ReadonlyMap<string, Subschema> {
  const anchors = new Map<string, Subschema>();
  for (const place of subschemas) {
    const anchor = isPlainObject(place.schema) ? place.schema["$anchor"] : undefined;
    if (anchor === undefined) continue;
    if (anchors.has(`#${anchor}`)) {
      const rule = "must be used only once";
      rejectSchema(`${place.pointer}/$anchor`, anchor, { rule, remedy: "choose another name" });
    }
    anchors.set(`#${anchor}`, place);
  }
  return anchors;
}

/**
 * Throws for a schema that applies itself to the same value endlessly. A schema may refer to itself
 * for a part of the value, as trees do.
 */
function checkLoops(subschemas: readonly Subschema[], targets: RefTargets): void {
  const done = new Set<unknown>();
  const path = new Set<unknown>();
  const open: Subschema[] = [...subschemas]; // An explicit stack, because chains of $ref may be long.
  for (let place = open.at(-1); place; place = open.at(-1)) {
    const isLeft = path.delete(place.schema); // Second visit: all nested schemas are done.
    if (isLeft || done.has(place.schema)) {
      done.add(place.schema);
      open.pop();
      continue;
    }
    path.add(place.schema);
    for (const next of listAppliedSchemas(place, targets)) {
      if (path.has(next.schema)) {
        const rule = "must not apply itself to the same value again";
        const remedy = "refer to it from properties or items instead";
        rejectSchema(place.pointer, place.schema, { rule, remedy });
      }
      open.push(next);
    }
  }
}

/** Returns the schemas that apply to every value that this one applies to. */
function listAppliedSchemas(place: Subschema, targets: RefTargets): readonly Subschema[] {
  const ref = getRef(place);
  const target = ref === undefined ? undefined : targets.get(ref);
  const inPlace = [...inPlaceApplicators].flatMap((keyword) => listChildren(place, keyword));
  return (target ? [target, ...inPlace] : inPlace).filter(({ schema }) => isPlainObject(schema));
}

import { frozenCopy, isPlainObject } from "../freeze.ts";
import { DEEPEST } from "../json.ts";
import { checkKeyword, inPlaceApplicators, refuseSchema } from "./json-schema-keywords.ts";
import type { JsonSchema } from "./schema.ts";
import {
  childrenOf,
  escapeStep,
  readJsonPointer,
  type Subschema,
  subschemasOf,
  toJsonPointer,
} from "./subschemas-of.ts";

/** A JSON Schema that the validator can use. */
export interface CheckedJsonSchema {
  /** A frozen copy of what the caller gave. */
  readonly schema: JsonSchema;
  readonly targets: RefTargets;
}

/** What each `$ref` of a schema points to. */
export type RefTargets = ReadonlyMap<string, Subschema>;

/** Copies a JSON Schema and checks it, so that a mistake is found here and not by the first value. */
export function checkJsonSchema(given: unknown): CheckedJsonSchema {
  if (!isPlainObject(given)) {
    const rule = "must be a plain object";
    const remedy = 'write a JSON Schema: { type: "object", properties: { … } }';
    refuseSchema("#", given, { rule, remedy });
  }
  const schema = frozenCopy(given);
  checkJson(schema, "#", new Set(), new Set());
  const subschemas: Subschema[] = [];
  for (const place of subschemasOf(schema)) {
    checkSubschema(place);
    if (subschemas.push(place) > MAX_SUBSCHEMAS) {
      const rule = `must have at most ${MAX_SUBSCHEMAS} subschemas`;
      refuseSchema("#", subschemas.length, { rule, remedy: "move what repeats into $defs" });
    }
  }
  return { schema, targets: resolveRefs(subschemas) };
}

/** Objects that share parts can be small in memory and still describe billions of subschemas. */
const MAX_SUBSCHEMAS = 10_000;

const plainJson = "write plain JSON: no undefined, functions, dates, bigints, instances or cycles";

function checkJson(value: unknown, pointer: string, open: Set<object>, seen: Set<object>): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (!Array.isArray(value) && !isPlainObject(value)) {
    refuseSchema(pointer, value, { rule: "must be JSON", remedy: plainJson });
  }
  if (open.has(value)) {
    refuseSchema(pointer, value, { rule: "must not contain itself", remedy: plainJson });
  }
  if (open.size === DEEPEST) {
    const rule = `must not be nested more than ${DEEPEST} levels deep`;
    refuseSchema(pointer, value, { rule, remedy: "move inner schemas into $defs" });
  }
  if (seen.has(value)) return;
  open.add(value);
  for (const [name, part] of Object.entries(value)) {
    if (!name.isWellFormed()) {
      const rule = "must only have names of well-formed Unicode";
      refuseSchema(pointer, name, { rule, remedy: "remove the lone surrogate" });
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
    refuseSchema(pointer, schema, { rule, remedy: "write an object, true or false" });
  }
  for (const [keyword, value] of Object.entries(schema)) {
    checkKeyword(keyword, value, `${pointer}/${escapeStep(keyword)}`);
  }
  if (pointer !== "#" && "$id" in schema) {
    const rule = "must be used only at the root";
    refuseSchema(`${pointer}/$id`, schema["$id"], { rule, remedy: "leave it out and use $anchor" });
  }
}

/** Resolves every `$ref` within the schema itself; refuses one that leads out of it or in circles. */
function resolveRefs(subschemas: readonly Subschema[]): RefTargets {
  const byPointer = new Map(subschemas.map((place) => [place.pointer, place]));
  const byAnchor = anchorsOf(subschemas);
  const targets = new Map<string, Subschema>();
  for (const place of subschemas) {
    const ref = refOf(place);
    if (ref === undefined) continue;
    const steps = readJsonPointer(ref);
    const target = steps ? byPointer.get(toJsonPointer(steps)) : byAnchor.get(ref);
    if (!target) {
      const rule = "must point to a schema within this schema";
      const remedy = 'copy it into $defs and write "#/$defs/name"';
      refuseSchema(`${place.pointer}/$ref`, ref, { rule, remedy });
    }
    targets.set(ref, target);
  }
  checkLoops(subschemas, targets);
  return targets;
}

function refOf({ schema }: Subschema): string | undefined {
  const ref = isPlainObject(schema) ? schema["$ref"] : undefined;
  return typeof ref === "string" ? ref : undefined;
}

function anchorsOf(subschemas: readonly Subschema[]): ReadonlyMap<string, Subschema> {
  const anchors = new Map<string, Subschema>();
  for (const place of subschemas) {
    const anchor = isPlainObject(place.schema) ? place.schema["$anchor"] : undefined;
    if (anchor === undefined) continue;
    if (anchors.has(`#${anchor}`)) {
      const rule = "must be used only once";
      refuseSchema(`${place.pointer}/$anchor`, anchor, { rule, remedy: "choose another name" });
    }
    anchors.set(`#${anchor}`, place);
  }
  return anchors;
}

/**
 * A schema may refer to itself for a part of the value, as trees do. One that applies itself to the
 * same value again would never end.
 */
function checkLoops(subschemas: readonly Subschema[], targets: RefTargets): void {
  const done = new Set<unknown>();
  const path = new Set<unknown>();
  const open: Subschema[] = [...subschemas]; // a stack of our own: chains of $ref may be long
  for (let place = open.at(-1); place; place = open.at(-1)) {
    const isLeft = path.delete(place.schema); // met for the second time: all below it is done
    if (isLeft || done.has(place.schema)) {
      done.add(place.schema);
      open.pop();
      continue;
    }
    path.add(place.schema);
    for (const next of appliedBy(place, targets)) {
      if (path.has(next.schema)) {
        const rule = "must not apply itself to the same value again";
        const remedy = "refer to it from properties or items instead";
        refuseSchema(place.pointer, place.schema, { rule, remedy });
      }
      open.push(next);
    }
  }
}

/** The schemas that apply to every value that this one applies to. */
function appliedBy(place: Subschema, targets: RefTargets): readonly Subschema[] {
  const ref = refOf(place);
  const target = ref === undefined ? undefined : targets.get(ref);
  const inPlace = [...inPlaceApplicators].flatMap((keyword) => childrenOf(place, keyword));
  return (target ? [target, ...inPlace] : inPlace).filter(({ schema }) => isPlainObject(schema));
}

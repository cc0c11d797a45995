import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { readRecord, readRecords, readString, readStrings } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { findResponseProblems } from "../openapi.ts";

/**
 * Returns the problems of a stream's events according to OpenAI's document, or none if it is not available. `first` is
 * the number of the first event.
 */
export function findStreamProblems(events: readonly WireItem[], first = 0): readonly string[] {
  const judge = loadJudge();
  if (!judge) return [];
  const isNumbered = events.every((event, at) => event["sequence_number"] === first + at);
  const numbers = isNumbered ? [] : [`the events are not numbered from ${first}, one by one`];
  return [...numbers, ...events.flatMap((event) => findEventProblems(event, judge))];
}

/** Events that differ from the document on the wire. */
const otherwise = new Set([
  "error",
  "response.apply_patch_call_operation_diff.delta",
  "response.apply_patch_call_operation_diff.done",
]);

function findEventProblems(event: WireItem, judge: Judge): readonly string[] {
  const type = readString(event, "type");
  if (otherwise.has(type)) return [];
  const { item, response, ...rest } = event;
  const inner = [
    ...(response === undefined ? [] : (findResponseProblems("/responses", response) ?? [])),
    ...(item === undefined ? [] : findItemProblems(readRecord(event, "item"))),
  ];
  return [...judge(type, rest), ...inner].map((problem) => `${type}: ${problem}`);
}

/** An item that was just added may lack fields that are not known yet. */
function findItemProblems(item: WireItem): readonly string[] {
  if (item["status"] === "in_progress") return [];
  return findResponseProblems("/responses", { ...emptyResponse, output: [item] }) ?? [];
}

const emptyResponse = {
  id: "resp_1",
  object: "response",
  created_at: 0,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: "m",
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
};

type Judge = (type: string, event: object) => readonly string[];

const judges = new Map<string, Judge>();

function loadJudge(): Judge | null {
  const { WINK_SHARED: shared = "" } = process.env;
  if (shared === "") return null;
  const judge = judges.get(shared) ?? createJudge(join(shared, "openapi/openapi.json"));
  judges.set(shared, judge);
  return judge;
}

function createJudge(path: string): Judge {
  const document: WireItem = JSON.parse(readFileSync(path, "utf8"));
  const schemas = readRecord(readRecord(document, "components"), "schemas");
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  ajv.addSchema({ $id: "openai", components: { schemas } });
  const validators = new Map<string, ValidateFunction>();
  return (type, event) => {
    const schema = findEventSchema(type, schemas);
    if (!schema) return ["there is no such event"];
    const validate = validators.get(type) ?? ajv.compile(schema);
    validators.set(type, validate);
    return validate(event) ? [] : [ajv.errorsText(validate.errors)];
  };
}

/** Returns the schema of an event without its item or response. */
function findEventSchema(type: string, schemas: WireItem): object | null {
  const union = readRecord(schemas, "ResponseStreamEvent");
  for (const member of [...readRecords(union, "anyOf"), ...readRecords(union, "oneOf")]) {
    const schema = readRecord(schemas, readString(member, "$ref").split("/").at(-1) ?? "");
    const properties = readRecord(schema, "properties");
    if (!readStrings(readRecord(properties, "type"), "enum").includes(type)) continue;
    const { item: _item, response: _response, ...rest } = properties;
    // No recorded event contains a function name, although the document requires it.
    const isRequired = (key: string) => key in rest && key !== "name";
    const required = readStrings(schema, "required").filter(isRequired);
    return makeReferencesAbsolute({ ...schema, properties: rest, required });
  }
  return null;
}

/** Makes the references within the document absolute. */
function makeReferencesAbsolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openai#/'));
}

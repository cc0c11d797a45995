import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { recordAt, recordsAt, textAt, textsAt } from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { responseProblems } from "../openapi.ts";

/** What is wrong with the events of a stream, by OpenAI's document; none where that is not at hand. */
export function streamProblems(events: readonly WireItem[]): readonly string[] {
  const judge = judgeHere();
  if (!judge) return [];
  const isNumbered = events.every((event, at) => event["sequence_number"] === at);
  const numbers = isNumbered ? [] : ["the events are not numbered from 0, one by one"];
  return [...numbers, ...events.flatMap((event) => eventProblems(event, judge))];
}

/** On the wire, and not as the document has them. */
const otherwise = new Set([
  "error",
  "response.apply_patch_call_operation_diff.delta",
  "response.apply_patch_call_operation_diff.done",
]);

function eventProblems(event: WireItem, judge: Judge): readonly string[] {
  const type = textAt(event, "type");
  if (otherwise.has(type)) return [];
  const { item, response, ...rest } = event;
  const inner = [
    ...(response === undefined ? [] : (responseProblems("/responses", response) ?? [])),
    ...(item === undefined ? [] : itemProblems(recordAt(event, "item"))),
  ];
  return [...judge(type, rest), ...inner].map((problem) => `${type}: ${problem}`);
}

/** An item that was only just added may lack what it does not have yet. */
function itemProblems(item: WireItem): readonly string[] {
  if (item["status"] === "in_progress") return [];
  return responseProblems("/responses", { ...emptyResponse, output: [item] }) ?? [];
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

function judgeHere(): Judge | null {
  const { WINK_SHARED: shared = "" } = process.env;
  if (shared === "") return null;
  const judge = judges.get(shared) ?? judgeFrom(join(shared, "openapi/openapi.json"));
  judges.set(shared, judge);
  return judge;
}

function judgeFrom(path: string): Judge {
  const document: WireItem = JSON.parse(readFileSync(path, "utf8"));
  const schemas = recordAt(recordAt(document, "components"), "schemas");
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  ajv.addSchema({ $id: "openai", components: { schemas } });
  const validators = new Map<string, ValidateFunction>();
  return (type, event) => {
    const schema = schemaOf(type, schemas);
    if (!schema) return ["there is no such event"];
    const validate = validators.get(type) ?? ajv.compile(schema);
    validators.set(type, validate);
    return validate(event) ? [] : [ajv.errorsText(validate.errors)];
  };
}

/** Of an event, but for the item or the response in it. */
function schemaOf(type: string, schemas: WireItem): object | null {
  const union = recordAt(schemas, "ResponseStreamEvent");
  for (const member of [...recordsAt(union, "anyOf"), ...recordsAt(union, "oneOf")]) {
    const schema = recordAt(schemas, textAt(member, "$ref").split("/").at(-1) ?? "");
    const properties = recordAt(schema, "properties");
    if (!textsAt(recordAt(properties, "type"), "enum").includes(type)) continue;
    const { item: _item, response: _response, ...rest } = properties;
    // The name of a function is in no recorded event, whatever the document says.
    const isKept = (key: string) => key in rest && key !== "name";
    const required = textsAt(schema, "required").filter(isKept);
    return absolute({ ...schema, properties: rest, required });
  }
  return null;
}

/** References from within the document, as seen from outside it. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openai#/'));
}

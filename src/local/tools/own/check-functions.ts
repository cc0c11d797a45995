import { InvalidOptionError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { jsonSchema } from "../../../base/schema/json-schema.ts";
import type { LocalToolFunction } from "../local-tool.ts";
import {
  checkKeys,
  checkText,
  FUNCTION_NAME,
  LEAVE_OUT,
  refuse,
  type Taking,
  takeName,
} from "./option-checks.ts";
import { listFunctions, type OfferedTool } from "./to-tool-record.ts";

/** Checks what a `LocalTool` offers an upstream model. */
export function checkOffered(tool: OfferedTool, field: string, taking: Taking): void {
  const { description, parameters, functions } = tool;
  if ((description === undefined) !== (parameters === undefined)) {
    const [name, other] =
      description === undefined ? ["description", "parameters"] : ["parameters", "description"];
    refuse(`${field}.${name}`, undefined, `must go with ${other}`, "give both, or neither");
  }
  if (functions !== undefined && (description !== undefined || !Array.isArray(functions)))
    refuse(
      `${field}.functions`,
      functions,
      "must be a list, without description and parameters beside it",
      "give the one or the other",
    );
  for (const [place, one] of listFunctions(tool).entries()) {
    const at = functions ? `${field}.functions[${place}]` : field;
    if (functions) checkKeys(one, at, ["name", "description", "parameters", "read"]);
    takeName(one.name, functions ? `${at}.name` : `${field}.kind`, {
      ...taking,
      pattern: FUNCTION_NAME,
    });
    checkFunction(one, at);
  }
}

function checkFunction(one: LocalToolFunction, field: string): void {
  const { description, parameters, read } = one;
  checkText(description, `${field}.description`);
  if (read !== undefined && typeof read !== "function")
    refuse(`${field}.read`, read, "must be a function", LEAVE_OUT);
  if (!isPlainObject(parameters) || parameters["type"] !== "object") {
    const remedy = 'write { type: "object", properties: { … } }';
    refuse(`${field}.parameters`, parameters, 'must be JSON Schema of type "object"', remedy);
  }
  try {
    jsonSchema(parameters);
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.renamed(`${field}.parameters`) : error;
  }
}

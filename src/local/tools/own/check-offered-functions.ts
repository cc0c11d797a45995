import { InvalidOptionError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { jsonSchema } from "../../../base/schema/json-schema.ts";
import type { LocalToolFunction } from "../local-tool.ts";
import {
  checkKeys,
  checkNonBlank,
  FUNCTION_NAME_PATTERN,
  type NameReservation,
  OMIT_REMEDY,
  reserveName,
  throwInvalidOption,
} from "./option-checks.ts";
import { type FunctionSource, listFunctions } from "./to-tool-record.ts";

/** Validates the functions that a `LocalTool` offers an upstream model. */
export function checkOfferedFunctions(
  tool: FunctionSource,
  field: string,
  taking: NameReservation,
): void {
  const { description, parameters, functions } = tool;
  if ((description === undefined) !== (parameters === undefined)) {
    const [name, other] =
      description === undefined ? ["description", "parameters"] : ["parameters", "description"];
    throwInvalidOption(
      `${field}.${name}`,
      undefined,
      `must be combined with ${other}`,
      "pass both, or neither",
    );
  }
  if (functions !== undefined && (description !== undefined || !Array.isArray(functions)))
    throwInvalidOption(
      `${field}.functions`,
      functions,
      "must be an array, and cannot be combined with description and parameters",
      "pass one or the other",
    );
  for (const [place, one] of listFunctions(tool).entries()) {
    const at = functions ? `${field}.functions[${place}]` : field;
    if (functions) checkKeys(one, at, ["name", "description", "parameters", "read"]);
    reserveName(one.name, functions ? `${at}.name` : `${field}.kind`, {
      ...taking,
      pattern: FUNCTION_NAME_PATTERN,
    });
    checkFunction(one, at);
  }
}

function checkFunction(one: LocalToolFunction, field: string): void {
  const { description, parameters, read } = one;
  checkNonBlank(description, `${field}.description`);
  if (read !== undefined && typeof read !== "function")
    throwInvalidOption(`${field}.read`, read, "must be a function", OMIT_REMEDY);
  if (!isPlainObject(parameters) || parameters["type"] !== "object") {
    const remedy = 'use { type: "object", properties: { … } }';
    throwInvalidOption(
      `${field}.parameters`,
      parameters,
      'must be JSON Schema of type "object"',
      remedy,
    );
  }
  try {
    jsonSchema(parameters);
  } catch (error) {
    throw error instanceof InvalidOptionError ? error.withField(`${field}.parameters`) : error;
  }
}

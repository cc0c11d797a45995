import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/json.ts";
import { invalidType } from "../api-problem.ts";
import { assertValid, type Validator } from "../validators/validator.ts";
import { readJsonBody } from "./read-json-body.ts";

/** Limits of a body. */
export interface BodyOptions {
  readonly maxBytes: number;
  /** The value of an empty body, which is rejected by default. */
  readonly emptyBody?: UnknownRecord | undefined;
}

/** Reads and validates a JSON object. Throws OpenAI's error if the body is not one, or is invalid. */
export async function readValidBody(
  request: Request,
  shape: Validator,
  { maxBytes, emptyBody }: BodyOptions,
): Promise<UnknownRecord> {
  const body = await readJsonBody(request, maxBytes, { emptyBody });
  if (!isPlainObject(body)) throw invalidType("body", "an object", body);
  assertValid(shape, body, "");
  return body;
}

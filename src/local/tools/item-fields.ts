import {
  anyValue,
  array,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../validators/validator.ts";

/** Validates a `type` that already selected the validator. */
export const type: Validator = anyValue;

/** Validates a tool or tool choice whose only field is `type`. */
export const typeOnly: Validator = object({ type });

/** Validates a string up to OpenAI's maximum length of 10 MiB. */
export const longText: Validator = string({ max: 10_485_760 });

/** Validates the id that links an output to its call. */
export const callId: Validator = string({ min: 1, max: 64 });

/** Validates the optional id of an item. */
export const itemId: Validator = nullable(string());

/** Validates an item's status. */
export const status: Validator = nullable(oneOf("in_progress", "completed", "incomplete"));

/** Validates the caller: the model or a program written by it. */
export const caller: Validator = nullable(
  unionByTag({ direct: object({ type }), program: object({ type, caller_id: string() }) }),
);

/** Validates a field that the API returns and clients may omit. */
export const created_by: Validator = nullable(string());

/** Validates who may call a tool: the model itself or its programs. */
export const allowed_callers: Validator = nullable(
  array(oneOf("direct", "programmatic"), { min: 1 }),
);

/** The required fields of every item with a `call_id`. */
export const callFields = { type, call_id: callId };

/** The optional fields of most items with a `call_id`. */
export const callOptions = { id: itemId, caller, status, created_by };

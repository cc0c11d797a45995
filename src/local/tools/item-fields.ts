import {
  anything,
  byType,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../validators/shapes.ts";

/** Validates a `type` that already selected the validator. */
export const type: Shape = anything;

/** Validates a tool or tool choice whose only field is `type`. */
export const bare: Shape = object({ type });

/** Validates a string up to OpenAI's maximum length of 10 MiB. */
export const longText: Shape = text({ max: 10_485_760 });

/** Validates the id that links an output to its call. */
export const callId: Shape = text({ min: 1, max: 64 });

/** Validates the optional id of an item. */
export const itemId: Shape = maybe(text());

/** Validates an item's status. */
export const status: Shape = maybe(oneOf("in_progress", "completed", "incomplete"));

/** Validates the caller: the model or a program written by it. */
export const caller: Shape = maybe(
  byType({ direct: object({ type }), program: object({ type, caller_id: text() }) }),
);

/** Validates a field that the API returns and clients may omit. */
export const created_by: Shape = maybe(text());

/** Validates who may call a tool: the model itself or its programs. */
export const allowed_callers: Shape = maybe(list(oneOf("direct", "programmatic"), { min: 1 }));

/** The required fields of every item with a `call_id`. */
export const callFields = { type, call_id: callId };

/** The optional fields of most items with a `call_id`. */
export const callOptions = { id: itemId, caller, status, created_by };

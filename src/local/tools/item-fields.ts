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

/** `type` of a value whose validator was chosen by it. */
export const type: Shape = anything;

/** Validates a tool, or a choice of one, that has no fields but its `type`. */
export const bare: Shape = object({ type });

/** Validates a text as long as OpenAI accepts in one piece: ten megabytes. */
export const longText: Shape = text({ max: 10_485_760 });

/** Validates the id that ties an output to its call. */
export const callId: Shape = text({ min: 1, max: 64 });

/** Validates the optional id of an item. */
export const itemId: Shape = maybe(text());

/** Validates how far an item has come. */
export const status: Shape = maybe(oneOf("in_progress", "completed", "incomplete"));

/** Validates who called: the model, or a program of its. */
export const caller: Shape = maybe(
  byType({ direct: object({ type }), program: object({ type, caller_id: text() }) }),
);

/** Validates a field that the API returns and no client needs to send. */
export const created_by: Shape = maybe(text());

/** Validates who may call a tool: the model itself, or its programs. */
export const allowed_callers: Shape = maybe(list(oneOf("direct", "programmatic"), { min: 1 }));

/** The required fields of every item with a `call_id`. */
export const callFields = { type, call_id: callId };

/** The optional fields of most items with a `call_id`. */
export const callOptions = { id: itemId, caller, status, created_by };

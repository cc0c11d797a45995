import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem, missingParameter } from "../../api-problem.ts";
import {
  anyObject,
  anything,
  at,
  byType,
  flag,
  idOf,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";
import { callId, clientItems, functionItems, hostedItems } from "./calls.ts";
import { inputContent, longText, outputContent } from "./content.ts";
import { tool } from "./tools.ts";

const type = anything; // it chose the shape
const id = maybe(text());
const status = maybe(oneOf("in_progress", "completed", "incomplete"));
const created_by = maybe(text());

const message = {
  type,
  id: maybe(idOf("msg")),
  status,
  phase: maybe(oneOf("commentary", "final_answer")),
};
const said = object({ role: type, content: inputContent }, message);

const messages = byType(
  {
    user: said,
    assistant: object({ role: type, content: outputContent }, message),
    system: said,
    developer: said,
  },
  "role",
);

const reasoning = object(
  { type, summary: list(object({ type: oneOf("summary_text"), text: longText })) },
  {
    id: idOf("rs"),
    encrypted_content: maybe(text({ max: 20_971_520 })),
    content: maybe(list(object({ type: oneOf("reasoning_text"), text: longText }))),
    status,
  },
);

const serverTool = { type, id: text({ min: 1 }), server_label: text() };

const mcp = {
  mcp_list_tools: object(
    {
      ...serverTool,
      tools: list(
        object(
          { name: text(), input_schema: anything },
          { description: maybe(text()), annotations: anything },
        ),
      ),
    },
    { error: anything },
  ),
  mcp_approval_request: object({ ...serverTool, name: text(), arguments: longText }),
  mcp_approval_response: object(
    { type, approval_request_id: text({ min: 1 }), approve: flag },
    { id, reason: maybe(text()), request_id: maybe(text()) },
  ),
  mcp_call: object(
    { ...serverTool, name: text(), arguments: longText },
    {
      output: maybe(longText),
      error: anything,
      status: maybe(oneOf("in_progress", "completed", "incomplete", "calling", "failed")),
      approval_request_id: maybe(text()),
    },
  ),
};

const execution = oneOf("server", "client");

const rest = {
  tool_search_call: object(
    { type, arguments: anything },
    { id, call_id: maybe(callId), execution, status, created_by },
  ),
  tool_search_output: object(
    { type, tools: list(tool) },
    { id, call_id: maybe(callId), execution, status, created_by },
  ),
  additional_tools: object({ type, role: oneOf("developer"), tools: list(tool) }, { id }),
  configuration_update: anyObject,
  program: object({ type, call_id: callId, id: text(), code: longText, fingerprint: longText }),
  program_output: object({
    type,
    call_id: callId,
    id: text(),
    result: longText,
    status: oneOf("completed", "incomplete"),
  }),
  compaction: object({ type, encrypted_content: text({ max: 20_971_520 }) }, { id, created_by }),
  compaction_trigger: object({ type }, { id }),
};

const typed = byType({
  message: messages,
  reasoning,
  ...functionItems,
  ...hostedItems,
  ...clientItems,
  ...mcp,
  ...rest,
  item_reference: object({ type, id: text({ min: 1 }) }),
});

const untypedReference = object({ id: text({ min: 1 }) }, { type });

/** An entry of `input`: a message needs no `type`, nor does a reference by id. */
export const item: Shape = (value, path) => {
  if (!isPlainObject(value) || typeof value["type"] === "string") return typed(value, path);
  if ("role" in value) return messages(value, path);
  return "id" in value && Object.keys(value).every((key) => key === "id" || key === "type")
    ? untypedReference(value, path)
    : missingParameter(at(path, "type"));
};

const everyItem = list(item);

/** All of `input`: what asks for a compaction comes last. */
export const items: Shape = (value, path) => {
  const problem = everyItem(value, path);
  if (problem || !Array.isArray(value)) return problem;
  const trigger = value.findIndex(
    (one) => isPlainObject(one) && one["type"] === "compaction_trigger",
  );
  if (trigger < 0 || trigger === value.length - 1) return null;
  const message = `Invalid '${path}[${trigger}]': an item of type 'compaction_trigger' must be the last one.`;
  return new ApiProblem(400, message, { param: `${path}[${trigger}]`, code: "invalid_value" });
};

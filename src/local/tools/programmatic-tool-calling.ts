import { object, oneOf, string } from "../validators/validator.ts";
import { callFields, longText, typeOnly } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Lets the model call tools from programs. Local models never do, but the items are accepted. */
export const programmaticToolCalling: ToolRecord = {
  kind: "programmatic_tool_calling",
  check: typeOnly,
  items: {
    program: {
      check: object({ ...callFields, id: string(), code: longText, fingerprint: longText }),
    },
    program_output: {
      check: object({
        ...callFields,
        id: string(),
        result: longText,
        status: oneOf("completed", "incomplete"),
      }),
    },
  },
};

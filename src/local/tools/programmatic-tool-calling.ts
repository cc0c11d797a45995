import { object, oneOf, text } from "../validators/shapes.ts";
import { bare, callFields, longText } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Lets the model call tools from programs. Local models never do, but the items are accepted. */
export const programmaticToolCalling: ToolRecord = {
  kind: "programmatic_tool_calling",
  check: bare,
  items: {
    program: {
      check: object({ ...callFields, id: text(), code: longText, fingerprint: longText }),
    },
    program_output: {
      check: object({
        ...callFields,
        id: text(),
        result: longText,
        status: oneOf("completed", "incomplete"),
      }),
    },
  },
};

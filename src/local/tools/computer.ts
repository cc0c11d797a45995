import {
  anyObject,
  array,
  integer,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
} from "../validators/validator.ts";
import { callFields, itemId, status, type, typeOnly } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Operates a computer at the client. Local models never call it, but its items are accepted. https://platform.openai.com/docs/guides/tools-computer-use */
export const computer: ToolRecord = {
  kind: "computer",
  aliases: ["computer_use_preview"],
  choiceTypes: ["computer", "computer_use", "computer_use_preview"],
  check: unionByTag({
    computer: typeOnly,
    computer_use_preview: object({
      type,
      display_width: integer({ min: 1 }),
      display_height: integer({ min: 1 }),
      environment: oneOf("windows", "mac", "linux", "ubuntu", "browser"),
    }),
  }),
  items: {
    computer_call: {
      check: object(
        { ...callFields, id: string() },
        {
          action: anyObject,
          actions: array(anyObject),
          pending_safety_checks: nullable(array(anyObject)),
          status,
        },
      ),
      answer: "computer_call_output",
    },
    computer_call_output: {
      check: object(
        { ...callFields, output: anyObject },
        { id: itemId, acknowledged_safety_checks: nullable(array(anyObject)), status },
      ),
      includes: { "computer_call_output.output.image_url": (item) => item },
    },
  },
};

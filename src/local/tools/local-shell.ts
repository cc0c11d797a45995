import { readRecord, readString } from "../../base/json.ts";
import {
  array,
  integer,
  nullable,
  object,
  oneOf,
  recordOf,
  string,
} from "../validators/validator.ts";
import { createNoEvents } from "./item-events.ts";
import { callFields, callId, itemId, longText, status, type, typeOnly } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Shell commands of older models, run by the client. Local models never call it, but its items are accepted. */
export const localShell: ToolRecord = {
  kind: "local_shell",
  check: typeOnly,
  items: {
    local_shell_call: {
      check: object(
        {
          ...callFields,
          id: string(),
          action: object(
            { type: oneOf("exec"), command: array(string()), env: recordOf(string()) },
            {
              timeout_ms: nullable(integer()),
              working_directory: nullable(string()),
              user: nullable(string()),
            },
          ),
        },
        { status },
      ),
      events(item) {
        const { added, ...rest } = createNoEvents(item);
        return {
          added: { ...added, action: { ...readRecord(item, "action"), command: [] } },
          ...rest,
        };
      },
      toCall(item) {
        const { command } = readRecord(item, "action");
        const line = Array.isArray(command) ? command.join(" ") : command;
        return { name: "shell", args: { commands: [line] } };
      },
    },
    local_shell_call_output: {
      check: object({ type, output: longText }, { id: itemId, call_id: callId, status }),
      toResult: (item) => readString(item, "output"),
    },
  },
};

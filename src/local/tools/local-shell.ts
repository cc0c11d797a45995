import { recordAt, textAt } from "../../base/reading.ts";
import { integer, list, map, maybe, object, oneOf, text } from "../validators/shapes.ts";
import { createNoEvents } from "./item-events.ts";
import { bare, callFields, callId, itemId, longText, status, type } from "./item-fields.ts";
import type { ToolRecord } from "./tool-record.ts";

/** Shell commands of older models, run by the client. Local models never call it, but its items are accepted. */
export const localShell: ToolRecord = {
  kind: "local_shell",
  check: bare,
  items: {
    local_shell_call: {
      check: object(
        {
          ...callFields,
          id: text(),
          action: object(
            { type: oneOf("exec"), command: list(text()), env: map(text()) },
            { timeout_ms: maybe(integer()), working_directory: maybe(text()), user: maybe(text()) },
          ),
        },
        { status },
      ),
      events(item) {
        const { added, ...rest } = createNoEvents(item);
        return {
          added: { ...added, action: { ...recordAt(item, "action"), command: [] } },
          ...rest,
        };
      },
      toCall(item) {
        const { command } = recordAt(item, "action");
        const line = Array.isArray(command) ? command.join(" ") : command;
        return { name: "shell", args: { commands: [line] } };
      },
    },
    local_shell_call_output: {
      check: object({ type, output: longText }, { id: itemId, call_id: callId, status }),
      toResult: (item) => textAt(item, "output"),
    },
  },
};

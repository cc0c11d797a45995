import { readRecords, readString } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";

/** Rejects messages whose tool calls and results do not belong together, with OpenAI's errors. */
export function checkToolMessages(messages: readonly WireItem[]): void {
  let open = new Set<string>(); // the calls of the last assistant message that have no result yet
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      takeResult(open, message, index);
      continue;
    }
    requireResults(open);
    open = new Set(readRecords(message, "tool_calls").map((call) => readString(call, "id")));
  }
  requireResults(open);
}

function takeResult(open: Set<string>, message: WireItem, index: number): void {
  const id = readString(message, "tool_call_id");
  if (open.delete(id)) return;
  throw open.size === 0
    ? new ApiProblem(
        400,
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${index}].role` },
      )
    : new ApiProblem(
        400,
        `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
        { param: `messages.[${index}].tool_call_id` },
      );
}

function requireResults(open: ReadonlySet<string>): void {
  if (open.size === 0) return;
  const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  throw new ApiProblem(400, message, { param: "messages" });
}

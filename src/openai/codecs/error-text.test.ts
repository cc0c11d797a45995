import { expect, test } from "vitest";
import { errorText } from "./error-text.ts";

test.each([null, undefined, ""])("%j is no error", (error) => {
  expect(errorText(error)).toBeNull();
});

test.each([
  ["boom", "boom"],
  [{ type: "http_error", code: 424, message: "424: " }, "http_error 424: 424:"],
  [{ code: "moderation_blocked", message: "Not this." }, "moderation_blocked: Not this."],
  [{ type: "mcp_protocol_error", code: -32_000 }, "mcp_protocol_error -32000"],
  [
    {
      type: "mcp_tool_execution_error",
      content: [{ type: "text", text: "one" }, null, { type: "text", text: "two" }],
    },
    "mcp_tool_execution_error: one\ntwo",
  ],
  [{ type: "mcp_tool_execution_error", content: "as text" }, "mcp_tool_execution_error: as text"],
  [{ message: "only words" }, "only words"],
  [{}, "an error that says nothing"],
  [{ type: 5, code: null, message: [], content: {} }, "an error that says nothing"],
  [["a"], '["a"]'],
  [7, "7"],
  [false, "false"],
])("%j is told as %j", (error, text) => {
  expect(errorText(error)).toBe(text);
});

import { expect, test } from "vitest";
import { toErrorText } from "./error-text.ts";

test.each([null, undefined, ""])("toErrorText() returns null for %j", (error) => {
  expect(toErrorText(error)).toBeNull();
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
  [{}, "an error without a message"],
  [{ type: 5, code: null, message: [], content: {} }, "an error without a message"],
  [["a"], '["a"]'],
  [7, "7"],
  [false, "false"],
])("toErrorText() formats %j as %j", (error, text) => {
  expect(toErrorText(error)).toBe(text);
});

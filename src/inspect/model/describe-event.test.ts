import { expect, test } from "vitest";
import { describeEvent } from "./describe-event.ts";

test.each([
  ["HostedToolOmitted", { name: "web", reason: "not offered" }, "- Tool omitted: web: not offered"],
  ["McpToolOmitted", { tool: "web", reason: "r" }, "- MCP tool omitted: web: r"],
  ["McpRefreshFailed", { server: "files", reason: "r" }, "✗ MCP server failed: files: r"],
  ["OverrideSkipped", { of: "section a", reason: "r" }, "- Override skipped: section a: r"],
  ["VisibilityChanged", { path: "a.b", visibility: "full" }, "- Section opened: a.b"],
  ["VisibilityChanged", { path: "a.b", visibility: "summary" }, "- Section closed: a.b"],
  ["VisibilityChanged", { path: "a.b", visibility: null }, "- Section reset: a.b"],
  [
    "HistoryRepaired",
    { reason: "r", dropped: [{ type: "x" }] },
    "- Conversation repaired: r. Dropped: x",
  ],
  [
    "ContainerReplaced",
    { containerId: "a", replacedBy: "b", restored: 2, reason: "r" },
    "- Container lost and replaced: a → b, 2 files restored. r",
  ],
  ["UnpackingFailed", { reason: "r" }, "- Files uploaded one by one: r"],
  ["DataHeld", { containerId: "a", until: "noon" }, "- Container retains data: a until noon"],
  ["DataReleased", { containerId: "a" }, "- Container with data deleted: a"],
  [
    "ContextCompacted",
    { tokensBefore: 9000, tokensAfter: 100, strategy: "server" },
    "- Conversation compacted: 9,000 → 100 tokens, by server",
  ],
  [
    "ContextCompacted",
    { tokensBefore: 9000, tokensAfter: null, strategy: "sdk" },
    "- Conversation compacted: 9,000 → ? tokens, by sdk",
  ],
  [
    "CompactionKept",
    { tokens: 5, model: "gpt" },
    "- Compacted conversation stored: 5 tokens before, for gpt",
  ],
  ["CompactionMeasured", { nextAtTokens: 7 }, "- Compaction measured: next at 7 tokens"],
  ["CompactionDiscarded", { reason: "r" }, "- Compacted conversation discarded: r"],
  ["CompactionFailed", { reason: "r" }, "✗ Compaction failed: r"],
  ["TurnResubmitted", { responseId: "r1" }, "- Turn sent again: the provider no longer has r1"],
  ["ReducerFailed", { sliceId: "a", eventType: "E", message: "m" }, "✗ Reducer failed: a: E: m"],
  ["SessionStoringFailed", { message: "m" }, "✗ Session no longer stored: m"],
  ["OrderPlaced", { total: 12 }, "- OrderPlaced: total: 12"],
])("describes %s with %j", (type, fields, expected) => {
  const { title, text, status } = describeEvent({ type, ...fields });
  expect(`${status === "failed" ? "✗" : "-"} ${title}: ${text}`).toBe(expected);
});

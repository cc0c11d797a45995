import { describe, expect, test } from "vitest";
import * as z from "zod";
import { NativeTool } from "../../tools/native-tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { settleStoredCall } from "./settle-stored-call.ts";

const raw = { type: "search_call" };
const call = { name: "search", kind: "search", callId: "c1", params: { q: "owls" }, raw };
const hosted = { ...call, output: { found: 2 }, success: true, message: "Found." };
const tool = new NativeTool({
  name: "search",
  description: "Searches.",
  params: z.object({ q: z.string() }),
  result: z.object({ found: z.string() }),
});

describe("the stored result of a call", () => {
  test("has the provider's output if its hook returned no value", async () => {
    const stored = {
      params: call.params,
      result: { success: true, message: "Kept.", value: null },
    };
    const { call: settled } = await settleStoredCall(hosted, stored, null);
    expect(settled).toMatchObject({ success: true, message: "Kept.", output: { found: 2 } });
  });

  test("has the hook's value, or the output if the hook failed", async () => {
    const kept = await settleStoredCall(hosted, { params: null, result: ToolResult.ok(3) }, null);
    expect(kept.call.output).toBe(3);
    const result = ToolResult.error("No.", 4);
    const failed = await settleStoredCall(hosted, { params: null, result }, null);
    expect(failed.call).toMatchObject({ success: false, output: { found: 2 } });
  });

  test("has the output as it is if it does not match the tool's schema", async () => {
    const stored = { params: call.params, result: ToolResult.error("Not a string.") };
    const { declared } = await settleStoredCall(hosted, stored, tool);
    expect(declared).toEqual({ found: 2 });
  });

  test("of a delegated call is its value", async () => {
    const stored = { params: call.params, result: ToolResult.ok({ lines: 2 }) };
    const { call: settled } = await settleStoredCall(call, stored, null);
    expect(settled).toMatchObject({ callId: "c1", output: { lines: 2 }, success: true });
  });
});

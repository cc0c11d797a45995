import { expect, test } from "vitest";
import { prepareSection } from "../../tests/support/mcp/in-process-server.ts";
import type { ToolContext } from "../tools/tool-context.ts";

test("a tool whose schema has changed runs if the arguments fit the new schema", async () => {
  const { section, context, change } = await prepareSection();
  const [old] = section.tools();
  const before = section.revision;
  const inputSchema = { type: "object", properties: { word: {}, times: {} }, required: ["word"] };
  await change({ tools: [{ name: "echo", inputSchema }] });
  await expect.poll(() => section.revision).not.toBe(before);
  await section.prepare(context);
  const called = await old?.handler?.({ word: "owl" }, { signal: context.signal } as ToolContext);
  expect(called).toMatchObject({ success: true, message: '{"word":"owl"}' });
});

test("a call that was canceled rejects with the reason, and the model reads nothing", async () => {
  const { section } = await prepareSection();
  const slow = section.tools().find(({ name }) => name === "slow");
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(slow?.handler?.({}, { signal } as ToolContext)).rejects.toThrow("enough");
});

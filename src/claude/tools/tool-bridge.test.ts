import { describe, expect, test } from "vitest";
import * as z from "zod";
import { bridgeEnd } from "../../../tests/support/claude/bridge-end.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { type BridgedCall, bridgedName, ownName, ToolBridge } from "./tool-bridge.ts";

const tool = (name: string, description = `Does ${name}.`) =>
  new Tool({
    name,
    description,
    params: z.object({ a: z.number() }),
    handler: () => ToolResult.ok(null),
  });
const schema = {
  type: "object",
  properties: { a: { type: "number" } },
  required: ["a"],
};

async function connected(run = async (_: BridgedCall) => ({ text: "Done.", isError: false })) {
  const bridge = new ToolBridge(run);
  await bridge.offer([tool("add")]);
  const end = await bridgeEnd({ mcpServers: bridge.servers });
  return { bridge, end };
}

describe("the model-side name of a tool", () => {
  test("is its own behind the server's, and back", () => {
    expect(bridgedName("add")).toBe("mcp__wink__add");
    expect(ownName("mcp__wink__add")).toBe("add");
  });

  test.each(["Bash", "mcp__other__add", "add"])("is none of ours: %s", (name) => {
    expect(ownName(name)).toBeNull();
  });
});

describe("the server", () => {
  test("is given to the SDK as one within this process", () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const instance = { connect: expect.any(Function), close: expect.any(Function) };
    expect(bridge.servers).toEqual({ wink: { type: "sdk", name: "wink", instance } });
  });

  test("starts its transport, and may be closed", async () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const { instance } = Object(bridge.servers["wink"]);
    let starts = 0;
    await instance.connect({ start: async () => void starts++, send: async () => {} });
    expect(starts).toBe(1);
    await expect(instance.close()).resolves.toBeUndefined();
  });

  test("speaks the version that it is spoken to in, and says that its tools may change", async () => {
    const { end } = await connected();
    expect(await end.ask("initialize", { protocolVersion: "2025-11-25" })).toMatchObject({
      jsonrpc: "2.0",
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "wink", version: "1" },
      },
    });
  });

  test("is there when asked", async () => {
    const { end } = await connected();
    expect(await end.ask("ping")).toMatchObject({ result: {} });
  });

  test("has no other methods", async () => {
    const { end } = await connected();
    const { error, result } = await end.ask("resources/list");
    expect([error, result]).toEqual([
      { code: -32601, message: "There is no such method" },
      undefined,
    ]);
  });

  test("answers nothing that is no request", async () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const sent: unknown[] = [];
    const transport: { onmessage?: (message: unknown) => void; send(one: unknown): Promise<void> } =
      { send: async (one) => void sent.push(one) };
    await Object(bridge.servers["wink"]).instance.connect(transport);
    for (const one of [null, "ping", { method: "ping" }, []]) transport.onmessage?.(one);
    transport.onmessage?.({ id: 0, method: "ping" });
    await expect.poll(() => sent).toEqual([{ jsonrpc: "2.0", id: 0, result: {} }]);
  });
});

describe("tools", () => {
  const listed = async (end: { ask(method: string): Promise<UnknownRecord> }) =>
    Object((await end.ask("tools/list"))["result"]).tools;

  test("are listed with their schemas, and always in the model's sight", async () => {
    const { end } = await connected();
    expect(await listed(end)).toMatchObject([
      {
        name: "add",
        description: "Does add.",
        inputSchema: schema,
        _meta: { "anthropic/alwaysLoad": true },
      },
    ]);
  });

  test("that change are told to the SDK, which has taken note when offer() ends", async () => {
    const { bridge, end } = await connected();
    await bridge.offer([tool("add"), tool("late")]);
    expect((await listed(end)).map(({ name }: Tool) => name)).toEqual(["add", "late"]);
    await bridge.offer([tool("add", "Adds.")]);
    expect(await listed(end)).toMatchObject([{ description: "Adds." }]);
    await bridge.offer([]);
    expect(end.listed).toEqual([]);
  });

  test("that stay the same are not told again", async () => {
    const { bridge, end } = await connected();
    end.close();
    await expect(bridge.offer([tool("add")])).resolves.toBeUndefined();
  });

  test("are waited for no longer when the SDK has ended", async () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const sent: unknown[] = [];
    const transport = { send: async (one: unknown) => void sent.push(one) };
    await Object(bridge.servers["wink"]).instance.connect(transport);
    const offer = bridge.offer([tool("add")]);
    expect(sent).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    bridge.close();
    await expect(offer).resolves.toBeUndefined();
    await expect(bridge.offer([])).resolves.toBeUndefined();
    expect(sent).toHaveLength(1);
  });

  test("that change when nothing can be sent any more fail nobody: the run says why", async () => {
    const { bridge, end } = await connected();
    end.close();
    const offer = bridge.offer([tool("late")]);
    bridge.close();
    await expect(offer).resolves.toBeUndefined();
  });
});

describe("a call", () => {
  test("is handed on by the model's id, and its answer goes back", async () => {
    const calls: BridgedCall[] = [];
    const { end } = await connected(async (call) => {
      calls.push(call);
      return { text: "Three.", isError: false };
    });
    expect(await end.call("toolu_1", "add", { a: 1 })).toEqual({ response: "Three." });
    expect(calls).toEqual([{ callId: "toolu_1", name: "add" }]);
  });

  test("that failed goes back as one that failed", async () => {
    const { end } = await connected(async () => ({ text: "No.", isError: true }));
    expect(await end.call("toolu_1", "add", {})).toEqual({ error: "No." });
  });

  test("does not hold up another one", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { end } = await connected(async ({ callId }) => {
      if (callId === "slow") await promise;
      return { text: callId, isError: false };
    });
    const slow = end.call("slow", "add", {});
    expect(await end.call("quick", "add", {})).toEqual({ response: "quick" });
    resolve();
    expect(await slow).toEqual({ response: "slow" });
  });
});

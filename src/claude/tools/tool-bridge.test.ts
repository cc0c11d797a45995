import { describe, expect, test } from "vitest";
import * as z from "zod";
import { connectBridge } from "../../../tests/support/claude/bridge-client.ts";
import type { UnknownRecord } from "../../base/json.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { type BridgedCall, ToolBridge, toBridgedName, toToolName } from "./tool-bridge.ts";

const createTool = (name: string, description = `Does ${name}.`) =>
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

async function connect(run = async (_: BridgedCall) => ({ text: "Done.", isError: false })) {
  const bridge = new ToolBridge(run);
  await bridge.offer([createTool("add")]);
  const client = await connectBridge({ mcpServers: bridge.servers });
  return { bridge, client };
}

describe("bridged tool names", () => {
  test("have the server's prefix, and convert back", () => {
    expect(toBridgedName("add")).toBe("mcp__wink__add");
    expect(toToolName("mcp__wink__add")).toBe("add");
  });

  test.each(["Bash", "mcp__other__add", "add"])("do not include %s", (name) => {
    expect(toToolName(name)).toBeNull();
  });
});

describe("ToolBridge server", () => {
  test("is passed to the SDK as an in-process server", () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const instance = { connect: expect.any(Function), close: expect.any(Function) };
    expect(bridge.servers).toEqual({ wink: { type: "sdk", name: "wink", instance } });
  });

  test("starts its transport, and can be closed", async () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const { instance } = Object(bridge.servers["wink"]);
    let starts = 0;
    await instance.connect({ start: async () => void starts++, send: async () => {} });
    expect(starts).toBe(1);
    await expect(instance.close()).resolves.toBeUndefined();
  });

  test("uses the client's protocol version, and announces list changes", async () => {
    const { client } = await connect();
    expect(await client.request("initialize", { protocolVersion: "2025-11-25" })).toMatchObject({
      jsonrpc: "2.0",
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "wink", version: "1" },
      },
    });
  });

  test("responds to ping", async () => {
    const { client } = await connect();
    expect(await client.request("ping")).toMatchObject({ result: {} });
  });

  test("rejects other methods", async () => {
    const { client } = await connect();
    const { error, result } = await client.request("resources/list");
    expect([error, result]).toEqual([{ code: -32601, message: "Method not found" }, undefined]);
  });

  test("does not respond to messages that are not requests", async () => {
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

describe("ToolBridge tools", () => {
  const listTools = async (client: { request(method: string): Promise<UnknownRecord> }) =>
    Object((await client.request("tools/list"))["result"]).tools;

  test("are listed with their schemas, and are always loaded", async () => {
    const { client } = await connect();
    expect(await listTools(client)).toMatchObject([
      {
        name: "add",
        description: "Does add.",
        inputSchema: schema,
        _meta: { "anthropic/alwaysLoad": true },
      },
    ]);
  });

  test("are listed again by the SDK before offer() resolves, if they change", async () => {
    const { bridge, client } = await connect();
    await bridge.offer([createTool("add"), createTool("late")]);
    expect((await listTools(client)).map(({ name }: Tool) => name)).toEqual(["add", "late"]);
    await bridge.offer([createTool("add", "Adds.")]);
    expect(await listTools(client)).toMatchObject([{ description: "Adds." }]);
    await bridge.offer([]);
    expect(client.toolNames).toEqual([]);
  });

  test("cause no notification if they stay the same", async () => {
    const { bridge, client } = await connect();
    client.close();
    await expect(bridge.offer([createTool("add")])).resolves.toBeUndefined();
  });

  test("do not block offer() after the SDK has ended", async () => {
    const bridge = new ToolBridge(async () => ({ text: "", isError: false }));
    const sent: unknown[] = [];
    const transport = { send: async (one: unknown) => void sent.push(one) };
    await Object(bridge.servers["wink"]).instance.connect(transport);
    const offer = bridge.offer([createTool("add")]);
    expect(sent).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    bridge.close();
    await expect(offer).resolves.toBeUndefined();
    await expect(bridge.offer([])).resolves.toBeUndefined();
    expect(sent).toHaveLength(1);
  });

  test("can change after the connection is lost without an error", async () => {
    const { bridge, client } = await connect();
    client.close();
    const offer = bridge.offer([createTool("late")]);
    bridge.close();
    await expect(offer).resolves.toBeUndefined();
  });
});

describe("a call through ToolBridge", () => {
  test("is passed on with the model's id, and returns the answer", async () => {
    const calls: BridgedCall[] = [];
    const { client } = await connect(async (call) => {
      calls.push(call);
      return { text: "Three.", isError: false };
    });
    expect(await client.call("toolu_1", "add", { a: 1 })).toEqual({ response: "Three." });
    expect(calls).toEqual([{ callId: "toolu_1", name: "add" }]);
  });

  test("returns an error if it failed", async () => {
    const { client } = await connect(async () => ({ text: "No.", isError: true }));
    expect(await client.call("toolu_1", "add", {})).toEqual({ error: "No." });
  });

  test("does not block other calls", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { client } = await connect(async ({ callId }) => {
      if (callId === "slow") await promise;
      return { text: callId, isError: false };
    });
    const slow = client.call("slow", "add", {});
    expect(await client.call("quick", "add", {})).toEqual({ response: "quick" });
    resolve();
    expect(await slow).toEqual({ response: "slow" });
  });
});

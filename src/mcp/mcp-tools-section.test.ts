import { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import {
  connectInProcess,
  createContext,
  prepareSection,
} from "../../tests/support/mcp/in-process-server.ts";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { McpToolsSection } from "./mcp-tools-section.ts";

describe("McpToolsSection", () => {
  test("has no tools and cannot be rendered before it is prepared", async () => {
    const section = new McpToolsSection({ server: { command: "server" } });
    expect(section.tools()).toEqual([]);
    expect(() => section.render()).toThrow(
      "The tools of the MCP server are not listed yet. Use evaluate, or await section.prepare({ session, signal }) first.",
    );
    const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections: [section] }));
    expect(() => prompt.render()).toThrow("not listed yet");
  });

  test("is prepared and released by hand", async () => {
    const { section, context, names } = await prepareSection();
    expect(section.render()).toBe("");
    expect(names()).toContain("echo");
    await section.release(context);
    expect(names()).toEqual([]);
  });

  test("leaves the caller's client open, with its own handler", async () => {
    const { client } = await connectInProcess();
    const heard: string[] = [];
    const handler = async ({ method }: { readonly method: string }) => void heard.push(method);
    client.fallbackNotificationHandler = handler;
    const section = new McpToolsSection({ server: { client } });
    await using _closed = section;
    await section.prepare(createContext());
    await client.callTool({ name: "change", arguments: {} });
    await expect.poll(() => heard).toEqual(["notifications/tools/list_changed"]);
    await section.cleanup();
    expect(client.fallbackNotificationHandler).toBe(handler);
    expect(await client.ping()).toEqual({});
  });

  test("removes its own handler from the caller's client, and no handler that was set later", async () => {
    const first = await prepareSection();
    await first.section.close();
    expect(first.client.fallbackNotificationHandler).toBeUndefined();
    const second = await prepareSection();
    const later = async () => {};
    second.client.fallbackNotificationHandler = later;
    await second.section.close();
    expect(second.client.fallbackNotificationHandler).toBe(later);
  });

  test("refuses a client that is not connected", async () => {
    const client = new Client({ name: "tests", version: "1.0.0" });
    const section = new McpToolsSection({ server: { client } });
    await expect(section.prepare(createContext())).rejects.toThrow(
      "The MCP client is not connected. Await client.connect(transport) first.",
    );
  });

  test("offers nothing if the server has no tools", async () => {
    const { names } = await prepareSection({ tools: [] });
    expect(names()).toEqual([]);
  });

  test("is prepared again after a change, and validates with the newest schema", async () => {
    const { section, context, run, change } = await prepareSection();
    const before = section.revision;
    const [old] = section.tools();
    await change({ tools: [{ name: "echo", inputSchema: { type: "object", required: ["x"] } }] });
    await expect.poll(() => section.revision).not.toBe(before);
    await section.prepare(context);
    const called = await old?.handler?.({ word: "a" }, { signal: context.signal } as ToolContext);
    expect(called).toMatchObject({
      success: false,
      message: expect.stringContaining("The tool has changed, and the arguments no longer fit"),
    });
    expect(await run("echo", { x: 1 })).toMatchObject({ success: true });
  });

  test("reports a removed tool to the model", async () => {
    const { section, context, change } = await prepareSection();
    const [echo] = section.tools();
    await change({ tools: [] });
    await expect
      .poll(async () => {
        await section.prepare(context);
        return section.tools().length;
      })
      .toBe(0);
    const result = await echo?.handler?.({}, { signal: context.signal } as ToolContext);
    expect(result).toMatchObject({
      success: false,
      message: "The MCP server of the client no longer has this tool.",
    });
  });

  test("keeps its tools if they cannot be listed again, and reports it once", async () => {
    const bus = recordingBus();
    const { client, change } = await connectInProcess();
    const section = new McpToolsSection({ server: { client }, timeoutMs: 2_000 });
    const context = { session: new Session({ bus }), signal: new AbortController().signal };
    await section.prepare(context);
    const before = section.revision;
    await change({ toolCount: 500 });
    await expect.poll(() => section.revision).not.toBe(before);
    await section.prepare(context);
    await section.prepare(context);
    expect(section.tools()[0]?.name).toBe("echo");
    expect(bus.of("McpRefreshFailed")).toEqual([
      {
        type: "McpRefreshFailed",
        sessionId: context.session.id,
        section: "mcp",
        server: "of the client",
        reason: expect.stringContaining("has 500 tools, but at most 128 are offered"),
      },
    ]);
  });

  test("reports the tools that it omits, once per evaluation", async () => {
    const tools = [{ name: "a.b", inputSchema: { type: "object" } }];
    const { client } = await connectInProcess({ tools });
    const section = new McpToolsSection({ server: { client }, key: "calendar" });
    const bus = recordingBus();
    const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections: [section] }));
    await scriptedClient({ text: "Done." }).evaluate(prompt, { session: new Session({ bus }) });
    expect(bus.of("McpToolOmitted")).toMatchObject([{ section: "calendar", tool: "a.b" }]);
  });

  test("reports a closed connection to the model", async () => {
    const { client, run, section } = await prepareSection();
    const before = section.revision;
    await client.close();
    expect(await run("echo", { word: "a" })).toMatchObject({
      success: false,
      message: "The MCP server of the client is not connected. It is tried again next turn.",
    });
    expect(section.revision).not.toBe(before);
  });

  test("passes effects, approvals and policies to its tools", async () => {
    const tools = [
      { name: "a", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
      { name: "b", inputSchema: { type: "object" } },
    ];
    const policy = { name: "never", check: () => "Never." };
    const plain = await prepareSection({ tools });
    expect(plain.section.tools().map(({ effects }) => effects)).toEqual(["none", "once"]);
    const needsApproval = () => true;
    const options = { effects: "idempotent", needsApproval, policies: [policy] } as const;
    const { section } = await prepareSection({ tools }, options);
    expect(section.tools()).toMatchObject([
      { effects: "idempotent", needsApproval, acceptsOverrides: false },
      { effects: "idempotent", needsApproval },
    ]);
    expect(section.policies).toHaveLength(1);
  });

  test("is cloned with some options changed, and without the connection", async () => {
    const { section } = await prepareSection({}, { prefix: "a_", include: ["echo"] });
    const copy = section.clone({ key: "copy", prefix: "b_" });
    expect(copy).toBeInstanceOf(McpToolsSection);
    expect([copy.key, copy.tools()]).toEqual(["copy", []]);
    await copy.prepare(createContext());
    expect(copy.tools().map(({ name }) => name)).toEqual(["b_echo"]);
    expect(section.tools().map(({ name }) => name)).toEqual(["a_echo"]);
  });

  test("refuses options of the wrong type", () => {
    const create = (options: object) => () =>
      new McpToolsSection({ server: { command: "server" }, ...options });
    expect(create({ include: "a" })).toThrow("include must be an array of tool names");
    expect(create({ exclude: [1] })).toThrow("exclude must be an array of tool names");
    expect(create({ prefix: "a.b" })).toThrow(
      'prefix must be at most 63 of A-Z, a-z, 0-9, _ and -, got "a.b".',
    );
    expect(create({ timeoutMs: 0 })).toThrow("timeoutMs must be a positive integer");
    expect(create({ callTimeoutMs: 2 ** 31 })).toThrow("callTimeoutMs must be a positive integer");
    expect(create({ needsApproval: 1 })).toThrow("needsApproval must be true, false or a function");
    expect(create({ effects: "twice" })).toThrow("effects must be one of");
  });
});

import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { type McpConfig, mcpTool } from "../../tools/hosted/mcp.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import { mcpCodec } from "./mcp.ts";

const server = { serverLabel: "dice", serverUrl: "https://dice.example/mcp" };
const tool = mcpTool(server, { name: "games" });
const env = { model: "gpt-5", containerId: null };
const serialize = (more: Partial<McpConfig> = {}) =>
  mcpCodec.serialize(mcpTool({ ...server, ...more }), env);
const parse = (...items: WireItem[]) => mcpCodec.parseOutput(items, tool);
const readCalls = (...items: WireItem[]) => mcpCodec.calls?.(items, tool) ?? [];

const createCall = (id: string, more: object = {}): WireItem => ({
  type: "mcp_call",
  id,
  server_label: "dice",
  name: "roll",
  arguments: '{"n":2}',
  output: "7",
  error: null,
  approval_request_id: null,
  ...more,
});
const createToolList = (tools: unknown, more: object = {}): WireItem => ({
  type: "mcp_list_tools",
  id: "mcpl_1",
  server_label: "dice",
  tools,
  ...more,
});
const bare = { type: "mcp", server_label: "dice", server_url: "https://dice.example/mcp" };

describe("mcpCodec.serialize()", () => {
  test("sends only the server by default", () => {
    expect(serialize()).toEqual(bare);
  });

  test("sends all options", () => {
    expect(
      serialize({
        serverDescription: "Rolls dice.",
        authorization: "token",
        headers: { "X-Key": "k" },
        allowedTools: ["roll"],
        requireApproval: "never",
      }),
    ).toEqual({
      ...bare,
      server_description: "Rolls dice.",
      authorization: "token",
      headers: { "X-Key": "k" },
      allowed_tools: ["roll"],
      require_approval: "never",
    });
  });

  test("sends filters in the API's format", () => {
    expect(
      serialize({
        allowedTools: { toolNames: ["roll"], readOnly: true },
        requireApproval: { always: { toolNames: ["bet"] }, never: { readOnly: false } },
      }),
    ).toEqual({
      ...bare,
      allowed_tools: { tool_names: ["roll"], read_only: true },
      require_approval: { always: { tool_names: ["bet"] }, never: { read_only: false } },
    });
    expect(serialize({ allowedTools: [], requireApproval: {} })).toEqual({
      ...bare,
      allowed_tools: [],
      require_approval: {},
    });
  });

  test.each([
    [{}, "serverLabel"],
    [{ serverLabel: "dice", authorization: "s3cret" }, "serverUrl"],
    [{ ...server, serverUrl: "" }, "serverUrl"],
    [{ ...server, authorization: "s3cret\n" }, "authorization"],
  ])("rejects the invalid config %j without revealing secrets", (config, key) => {
    const tool = new HostedTool({ kind: "mcp", name: "games", description: "Games.", config });
    const codec: { serialize(tool: HostedTool, given: typeof env): unknown } = mcpCodec;
    expect(() => codec.serialize(tool, env)).toThrow(InvalidOptionError);
    expect(() => codec.serialize(tool, env)).toThrow(`Hosted tool "games" config.${key} must `);
    expect(() => codec.serialize(tool, env)).not.toThrow("s3cret");
  });
});

test("mcpCodec labels and forces a tool by its server label", () => {
  expect(mcpCodec.kind).toBe("mcp");
  expect(mcpCodec.label?.(tool)).toBe("dice");
  expect(mcpCodec.toolChoice?.(tool)).toEqual({ type: "mcp", server_label: "dice" });
});

describe("mcpCodec.parseOutput()", () => {
  test("returns null without calls to the server", () => {
    expect(parse()).toBeNull();
    expect(parse(createToolList([]), createCall("mcp_1", { server_label: "other" }))).toBeNull();
  });

  test("returns every call to the server and its last tool list", () => {
    const tools = [
      { name: "roll", description: "Rolls.", input_schema: { type: "object" }, annotations: {} },
      { name: "bet", input_schema: null },
      null,
    ];
    expect(
      parse(
        createToolList([{ name: "old" }]),
        createToolList([{ name: "theirs" }], { server_label: "other" }),
        createToolList(tools, { error: "late" }),
        createCall("mcp_1"),
        createCall("mcp_2", { server_label: "other" }),
        createCall("mcp_3", {
          output: null,
          error: { type: "http_error", code: 424, message: "x" },
        }),
      ),
    ).toEqual({
      calls: [
        {
          id: "mcp_1",
          serverLabel: "dice",
          name: "roll",
          arguments: '{"n":2}',
          output: "7",
          error: null,
        },
        {
          id: "mcp_3",
          serverLabel: "dice",
          name: "roll",
          arguments: '{"n":2}',
          output: null,
          error: "http_error 424: x",
        },
      ],
      tools: [
        { name: "roll", description: "Rolls.", inputSchema: { type: "object" } },
        { name: "bet", description: null, inputSchema: {} },
      ],
    });
  });

  test("omits tools if the server was not listed", () => {
    expect(parse(createCall("mcp_1"))).not.toHaveProperty("tools");
    expect(
      parse(createCall("mcp_1"), createToolList(null, { error: { code: 500 } }))?.tools,
    ).toEqual([]);
  });

  test("tolerates a call with only a label", () => {
    expect(parse({ type: "mcp_call", server_label: "dice" })).toEqual({
      calls: [{ id: "", serverLabel: "dice", name: "", arguments: "", output: null, error: null }],
    });
  });
});

describe("mcpCodec.calls()", () => {
  test("returns one call per item of the server", () => {
    const item = createCall("mcp_1");
    const found = readCalls(
      createToolList([]),
      item,
      createCall("mcp_2"),
      createCall("x", { server_label: "other" }),
    );
    expect(found).toEqual([
      {
        name: "games",
        kind: "mcp",
        callId: "mcp_1",
        params: { name: "roll", serverLabel: "dice", arguments: '{"n":2}' },
        output: {
          calls: [
            {
              id: "mcp_1",
              serverLabel: "dice",
              name: "roll",
              arguments: '{"n":2}',
              output: "7",
              error: null,
            },
          ],
        },
        success: true,
        message: 'Called "roll" on "dice"',
        raw: item,
      },
      expect.objectContaining({ callId: "mcp_2" }),
    ]);
    expect(found[0]?.raw).toBe(item);
    expect(Object.keys(mcpCodec.params ?? {}).toSorted()).toEqual(
      Object.keys(found[0]?.params ?? {}).toSorted(),
    );
  });

  test.each([
    [{}, true, 'Called "roll" on "dice"'],
    [{ status: "completed" }, true, 'Called "roll" on "dice"'],
    [{ status: "calling", error: undefined }, true, 'Called "roll" on "dice"'],
    [{ status: "failed" }, false, 'Failed (status "failed")'],
    [{ status: "incomplete" }, false, 'Failed (status "incomplete")'],
    [{ error: "no dice" }, false, 'Calling "roll" on "dice" failed: no dice'],
    [
      { status: "completed", error: { type: "mcp_protocol_error", code: -32_600, message: "bad" } },
      false,
      'Calling "roll" on "dice" failed: mcp_protocol_error -32600: bad',
    ],
  ])("maps the fields %j to success %s", (more, success, message) => {
    expect(readCalls(createCall("mcp_1", more))).toEqual([
      expect.objectContaining({ success, message }),
    ]);
  });
});

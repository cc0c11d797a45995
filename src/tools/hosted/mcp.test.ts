import { describe, expect, test } from "vitest";
import { type McpConfig, mcpTool } from "./mcp.ts";

const make = (config: unknown, options?: unknown): unknown =>
  Reflect.apply(mcpTool, undefined, [config, options]);
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const server = { serverLabel: "docs", serverUrl: "https://mcp.example.com/mcp" };

const complete = (): McpConfig => ({
  ...server,
  serverDescription: "The manual.",
  allowedTools: ["search", "fetch"],
  requireApproval: { always: { toolNames: ["write"] }, never: { readOnly: true } },
  authorization: "token",
  headers: { "X-Team": "docs" },
});

describe("mcpTool", () => {
  test("needs a label and an address", () => {
    const tool = mcpTool(server);
    expect(tool).toMatchObject({ kind: "mcp", name: "mcp", config: server, live: {} });
    expect(tool.live.approve).toBeUndefined();
  });

  test("may go by another name", () => {
    expect(mcpTool(server, { name: "manual" }).name).toBe("manual");
  });

  test("hands on who approves", () => {
    const approve = () => true;
    expect(mcpTool(server, { approve }).live.approve).toBe(approve);
    expect(() => make(server, { approve: "always" })).toThrow(
      refusal({ field: "mcpTool(options).approve", value: "always" }),
    );
  });

  test("keeps a frozen copy of its config, and leaves the caller's alone", () => {
    const config = complete();
    const { config: kept } = mcpTool(config);
    expect(kept).toEqual(config);
    for (const part of [kept, ...Object.values(kept)]) expect(Object.isFrozen(part)).toBe(true);
    expect(config).toEqual(complete());
    expect(Object.isFrozen(config)).toBe(false);
    expect(Object.isFrozen(config.headers)).toBe(false);
  });
});

test.each<Partial<McpConfig>>([
  complete(),
  {
    allowedTools: undefined,
    requireApproval: undefined,
    authorization: undefined,
    headers: undefined,
  },
  { allowedTools: [] },
  { allowedTools: { toolNames: ["search"], readOnly: true } },
  { requireApproval: "always" },
  { requireApproval: "never" },
  { requireApproval: {} },
  { headers: {} },
  { serverLabel: "My_Docs-2" },
])("%j is a config", (config) => {
  expect(() => mcpTool({ ...server, ...config })).not.toThrow();
});

test.each([
  "https://mcp.example.com",
  "HTTPS://mcp.example.com:8443/mcp?team=docs",
  "http://localhost:3000/mcp",
  "http://127.0.0.1/mcp",
  "http://[::1]:8080/mcp",
])("%j is an address", (serverUrl) => {
  expect(() => mcpTool({ ...server, serverUrl })).not.toThrow();
});

test.each([
  "http://mcp.example.com/mcp",
  "http://localhost.example.com/mcp",
  "http://127.0.0.1.example.com/mcp",
  "ws://localhost/mcp",
  "file:///etc/passwd",
  "mcp.example.com",
  "https:mcp.example.com",
  "https://",
  " https://mcp.example.com",
  "https://mcp.example.com/a b",
  "",
  undefined,
  7,
])("%j is refused as an address", (serverUrl) => {
  expect(() => make({ ...server, serverUrl })).toThrow(
    refusal({
      field: "mcpTool(config).serverUrl",
      value: serverUrl,
      message: expect.stringContaining("https:"),
    }),
  );
});

test.each([
  "https://user:s3cret@mcp.example.com",
  "https://s3cret@mcp.example.com",
  "https://:s3cret@mcp.example.com",
  "http://user:s3cret@mcp.example.com",
  "https://user:s3cret@mcp.example.com:99999",
])("the password in %j is refused and not quoted", (serverUrl) => {
  expect(() => make({ ...server, serverUrl })).toThrow(
    refusal({
      field: "mcpTool(config).serverUrl",
      value: undefined,
      message: expect.not.stringContaining("s3cret"),
    }),
  );
});

test.each([
  [{ serverLabel: "" }, ".serverLabel", ""],
  [{ serverLabel: "my docs" }, ".serverLabel", "my docs"],
  [{ serverLabel: "2docs" }, ".serverLabel", "2docs"],
  [{ serverLabel: undefined }, ".serverLabel", undefined],
  [{ serverDescription: "a\nb" }, ".serverDescription", "a\nb"],
  [{ allowedTools: "search" }, ".allowedTools", "search"],
  [{ allowedTools: [""] }, ".allowedTools[0]", ""],
  [{ allowedTools: { toolNames: [7] } }, ".allowedTools.toolNames[0]", 7],
  [{ allowedTools: { readOnly: "yes" } }, ".allowedTools.readOnly", "yes"],
  [{ allowedTools: { names: [] } }, ".allowedTools key", "names"],
  [{ requireApproval: "sometimes" }, ".requireApproval", "sometimes"],
  [{ requireApproval: true }, ".requireApproval", true],
  [{ requireApproval: { often: {} } }, ".requireApproval key", "often"],
  [{ requireApproval: { never: ["search"] } }, ".requireApproval.never", ["search"]],
  [{ serverURL: "https://a.com" }, " key", "serverURL"],
])("%j is refused at %j", (config, place, value) => {
  expect(() => make({ ...server, ...config })).toThrow(
    refusal({ field: `mcpTool(config)${place}`, value }),
  );
});

test.each([
  [{ authorization: "" }, ".authorization"],
  [{ authorization: ["s3cret"] }, ".authorization"],
  [{ authorization: "s3cret\n" }, ".authorization"],
  [{ headers: "X-Key: s3cret" }, ".headers"],
  [{ headers: ["s3cret"] }, ".headers"],
  [{ headers: { "X-Key": "s3cret\r\nX-Other: 1" } }, ".headers.X-Key"],
  [{ headers: { "X-Key": ["s3cret"] } }, ".headers.X-Key"],
  [{ headers: { "X-Key: s3cret": "" } }, ".headers key"],
])("%j is refused at %j, and no secret is quoted", (config, place) => {
  expect(() => make({ ...server, ...config })).toThrow(
    refusal({
      field: `mcpTool(config)${place}`,
      value: undefined,
      message: expect.not.stringContaining("s3cret"),
    }),
  );
});

test.each([[{ ...server, authorisation: "s3cret" }], [[{ authorization: "s3cret" }]], ["s3cret"]])(
  "a secret in the wrong place is not quoted: %j",
  (config) => {
    expect(() => make(config)).toThrow(refusal({ message: expect.not.stringContaining("s3cret") }));
  },
);

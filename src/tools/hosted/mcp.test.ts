import { describe, expect, test } from "vitest";
import { type McpConfig, mcpTool } from "./mcp.ts";

const createTool = (config: unknown, options?: unknown): unknown =>
  Reflect.apply(mcpTool, undefined, [config, options]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const server = { serverLabel: "docs", serverUrl: "https://mcp.example.com/mcp" };

const createConfig = (): McpConfig => ({
  ...server,
  serverDescription: "The manual.",
  allowedTools: ["search", "fetch"],
  requireApproval: { always: { toolNames: ["write"] }, never: { readOnly: true } },
  authorization: "token",
  headers: { "X-Team": "docs" },
});

describe("mcpTool()", () => {
  test("needs a label and a URL", () => {
    const tool = mcpTool(server);
    expect(tool).toMatchObject({ kind: "mcp", name: "mcp", config: server, live: {} });
    expect(tool.live.approve).toBeUndefined();
  });

  test("accepts another name", () => {
    expect(mcpTool(server, { name: "manual" }).name).toBe("manual");
  });

  test("passes on the approver", () => {
    const approve = () => true;
    expect(mcpTool(server, { approve }).live.approve).toBe(approve);
    expect(() => createTool(server, { approve: "always" })).toThrow(
      matchError({ field: "mcpTool(options).approve", value: "always" }),
    );
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = mcpTool(config);
    expect(kept).toEqual(config);
    for (const part of [kept, ...Object.values(kept)]) expect(Object.isFrozen(part)).toBe(true);
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config)).toBe(false);
    expect(Object.isFrozen(config.headers)).toBe(false);
  });
});

test.each<Partial<McpConfig>>([
  createConfig(),
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
])("mcpTool() accepts %j", (config) => {
  expect(() => mcpTool({ ...server, ...config })).not.toThrow();
});

test.each([
  "https://mcp.example.com",
  "HTTPS://mcp.example.com:8443/mcp?team=docs",
  "http://localhost:3000/mcp",
  "http://127.0.0.1/mcp",
  "http://[::1]:8080/mcp",
])("mcpTool() accepts the URL %j", (serverUrl) => {
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
])("mcpTool() rejects the URL %j", (serverUrl) => {
  expect(() => createTool({ ...server, serverUrl })).toThrow(
    matchError({
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
])("mcpTool() rejects the password in %j without quoting it", (serverUrl) => {
  expect(() => createTool({ ...server, serverUrl })).toThrow(
    matchError({
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
])("mcpTool() rejects %j at %j", (config, place, value) => {
  expect(() => createTool({ ...server, ...config })).toThrow(
    matchError({ field: `mcpTool(config)${place}`, value }),
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
])("mcpTool() rejects %j at %j without quoting secrets", (config, place) => {
  expect(() => createTool({ ...server, ...config })).toThrow(
    matchError({
      field: `mcpTool(config)${place}`,
      value: undefined,
      message: expect.not.stringContaining("s3cret"),
    }),
  );
});

test.each([[{ ...server, authorisation: "s3cret" }], [[{ authorization: "s3cret" }]], ["s3cret"]])(
  "mcpTool() does not quote a secret in the wrong place: %j",
  (config) => {
    expect(() => createTool(config)).toThrow(
      matchError({ message: expect.not.stringContaining("s3cret") }),
    );
  },
);

import { describe, expect, test } from "vitest";
import { checkMcpServer, describeMcpServer, listMcpSecrets, type McpServer } from "./mcp-server.ts";

const check = (server: object) => checkMcpServer(server as McpServer, "server");

describe("checkMcpServer()", () => {
  test("copies and freezes the options", () => {
    const args = ["a"];
    const server = check({ command: "npx", args, cwd: "/tmp" });
    args.push("b");
    expect(server).toEqual({ command: "npx", args: ["a"], env: {}, cwd: "/tmp" });
    expect(Object.isFrozen(server)).toBe(true);
  });

  test.each([
    [null, "server must have command, url or client, got null."],
    [{ comand: "x" }, 'server must have command, url or client, got ["comand"].'],
    [{ command: "" }, 'server.command must be the name or path of a program, got "".'],
    [{ command: "a", args: "b" }, "server.args must be an array of strings, got a secret"],
    [{ command: "a", env: { KEY: 1 } }, "server.env.KEY must be a string, got a secret"],
    [{ url: "ftp://x" }, "server.url must be an http or https URL, got a secret"],
    [{ url: "https://x", headers: { A: 1 } }, "server.headers.A must be a string, got a secret"],
    [{ client: {} }, "server.client must be an MCP client, got {}."],
  ])("refuses %o", (server, message) => {
    expect(() => check(server as object)).toThrow(message);
  });
});

test("describeMcpServer() shows no secret", () => {
  expect(describeMcpServer({ command: "npx", args: ["--key=secret"] })).toBe('"npx"');
  const url = "https://user:secret@example.com/secret?key=secret";
  expect(describeMcpServer({ url })).toBe('"https://example.com"');
});

test("listMcpSecrets() lists the values of variables and headers", () => {
  expect(listMcpSecrets({ command: "npx", env: { A: "1" } })).toEqual(["1"]);
  expect(listMcpSecrets({ url: "https://x", headers: { B: "2" } })).toEqual(["2"]);
  expect([listMcpSecrets({ command: "npx" }), listMcpSecrets({ url: "https://x" })]).toEqual([
    [],
    [],
  ]);
});

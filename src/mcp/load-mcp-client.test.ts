import { expect, test } from "vitest";
import { loadMcpClient } from "./load-mcp-client.ts";

test("loadMcpClient() loads the installed client", async () => {
  expect(typeof (await loadMcpClient()).Client).toBe("function");
});

test("loadMcpClient() names the install command if the client is missing", async () => {
  const missing = new Error("Cannot find package '@modelcontextprotocol/client'");
  await expect(loadMcpClient(() => Promise.reject(missing))).rejects.toThrow(
    "The MCP client is not installed. Run npm install @modelcontextprotocol/client.",
  );
  await expect(loadMcpClient(() => Promise.reject(new Error("torn")))).rejects.toThrow(
    "The MCP client could not be loaded (torn). Run npm install @modelcontextprotocol/client.",
  );
});

test("loadMcpClient() refuses another version", async () => {
  await expect(loadMcpClient(async () => ({}))).rejects.toThrow("Install version 2.4 or later.");
});

import type { AuthProvider, Client, OAuthClientProvider } from "@modelcontextprotocol/client";
import { expectTypeOf, test } from "vitest";
import type { McpClient, McpOAuthProvider, McpTokenProvider } from "./mcp-server.ts";

test("the objects of the MCP client are accepted", () => {
  expectTypeOf<Client>().toExtend<McpClient>();
  expectTypeOf<AuthProvider>().toExtend<McpTokenProvider>();
  expectTypeOf<OAuthClientProvider>().toExtend<McpOAuthProvider>();
});

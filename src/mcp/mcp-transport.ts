import type {
  AuthProvider,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { raceAbort } from "../base/clock.ts";
import { limitResponse } from "./limit-response.ts";
import type { McpClientModule } from "./load-mcp-client.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import type { McpHttpServer, McpStdioServer } from "./mcp-server.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** Carries the messages between the client and a server that was not connected by the caller. */
export type McpTransport = StdioTransport | StreamableHTTPClientTransport;

/** Creates the transport to a server. `onExceeded` is called if a response over HTTP is too large. */
export function createMcpTransport(
  server: McpStdioServer | McpHttpServer,
  client: McpClientModule,
  onExceeded: (problem: string) => void,
): McpTransport {
  if ("command" in server) return new StdioTransport(server, client);
  const { url, headers = {}, fetch = globalThis.fetch, authProvider } = server;
  return new client.StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) =>
      limitResponse(await fetch(input, init), MCP_LIMITS.messageBytes, onExceeded),
    requestInit: { headers },
    ...(authProvider && { authProvider: authProvider as AuthProvider | OAuthClientProvider }),
  });
}

/** Ends the session of a transport over HTTP. A server that does not answer is not waited for. */
export async function endMcpSession(transport: McpTransport): Promise<void> {
  if (transport instanceof StdioTransport) return;
  const ended = raceAbort(transport.terminateSession(), AbortSignal.timeout(END_MS));
  await Promise.allSettled([ended]);
}

/** How long the end of a session may take. */
const END_MS = 1_000;

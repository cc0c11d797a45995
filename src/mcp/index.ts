/**
 * Tools of MCP servers as a section of a prompt: local programs over stdio, and remote servers over HTTP.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export type { McpRefreshFailed, McpToolOmitted } from "./mcp-events.ts";
export type {
  McpClient,
  McpConnectedServer,
  McpHttpServer,
  McpOAuthProvider,
  McpServer,
  McpStdioServer,
  McpTokenProvider,
} from "./mcp-server.ts";
export { McpToolsSection } from "./mcp-tools-section.ts";
export type { McpToolsSectionOptions } from "./mcp-tools-section-options.ts";

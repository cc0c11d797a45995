import { McpToolsSection } from "weakincentives/mcp";
import type { Row } from "./row.ts";

const server = { command: "server" };

/** `weakincentives/mcp`. */
export const mcpRows: readonly Row[] = [
  ["McpToolsSection", "includes", "include", (o) => new McpToolsSection({ server, ...Object(o) })],
  [
    "McpToolsSection.server",
    "arg",
    "args",
    (o) => new McpToolsSection({ server: { ...server, ...Object(o) } }),
  ],
  [
    "McpToolsSection.server",
    "header",
    "headers",
    (o) => new McpToolsSection({ server: { url: "https://example.com/mcp", ...Object(o) } }),
  ],
];

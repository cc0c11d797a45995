import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../../mcp/node_modules/@modelcontextprotocol/", import.meta.url);
const names = ["everything", "filesystem", "memory"] as const;

/** Returns the program of a reference server. */
export function findReferenceServer(name: (typeof names)[number]): string {
  return fileURLToPath(new URL(`server-${name}/dist/index.js`, folder));
}

/** How to install the reference servers of MCP; `null` if they are installed. `.ci/run` installs them. */
export const mcpServersMissing: string | null = names.every((name) =>
  existsSync(findReferenceServer(name)),
)
  ? null
  : "Install them with npm ci --ignore-scripts --prefix tests/mcp.";

import { describeLoadFailure } from "../base/describe-load-failure.ts";
import { WinkError } from "../base/errors.ts";

const PACKAGE = "@modelcontextprotocol/client";

/** The module `@modelcontextprotocol/client`. */
export type McpClientModule = typeof import("@modelcontextprotocol/client");

/** Imports the official MCP client, an optional peer dependency. No other file imports its code. */
export async function loadMcpClient(
  load: () => Promise<Partial<McpClientModule>> = () => import("@modelcontextprotocol/client"),
): Promise<McpClientModule> {
  let loaded: Partial<McpClientModule>;
  try {
    loaded = await load();
  } catch (cause) {
    const problem = describeLoadFailure(cause);
    throw new WinkError(`The MCP client ${problem}. Run npm install ${PACKAGE}.`, { cause });
  }
  if (isClientModule(loaded)) return loaded;
  throw new WinkError(`${PACKAGE} does not export Client. Install version 2.4 or later.`);
}

function isClientModule(loaded: Partial<McpClientModule>): loaded is McpClientModule {
  return typeof loaded.Client === "function" && typeof loaded.ReadBuffer === "function";
}

import { getErrorMessage, WinkError } from "../base/errors.ts";
import { redactText } from "../base/redact.ts";
import { cutText } from "./clean-text.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import { describeMcpServer, listMcpSecrets, type McpServer } from "./mcp-server.ts";

/** A failed request to a server. */
export interface McpFailure {
  readonly server: McpServer;
  /** Follows the name of the server in the message. */
  readonly problem: string;
  readonly cause: unknown;
  /** How the server ended, and the end of its error output; `""` if it runs. */
  readonly end: string;
}

/** Creates an error that names the server and has the end of its error output. Shows no secret. */
export function createMcpError({ server, problem, cause, end }: McpFailure): WinkError {
  const secrets = listMcpSecrets(server);
  const why = cutText(redactText(getErrorMessage(cause), secrets), MCP_LIMITS.errorChars);
  const output = redactText(cutText(end, MCP_LIMITS.stderrChars + 100), secrets);
  const remedy = isUnauthorized(cause) ? "Pass a token in headers, or an authProvider." : "";
  const name = `The MCP server ${describeMcpServer(server)}`;
  const sentence = `${name} ${problem}: ${why.replace(/[.\s]*$/, ".")}`;
  const message = [sentence, output, remedy].filter((part) => part !== "").join(" ");
  return new WinkError(message, { cause });
}

function isUnauthorized(cause: unknown): boolean {
  const isRefused = cause instanceof Error && cause.constructor.name === "UnauthorizedError";
  return isRefused || readStatus(cause) === 401;
}

/** Returns whether a call failed because the server has forgotten the session: it answers 404 then. */
export function isSessionLost(cause: unknown): boolean {
  return readStatus(cause) === 404;
}

function readStatus(cause: unknown): unknown {
  return cause instanceof Error && "status" in cause ? cause.status : undefined;
}

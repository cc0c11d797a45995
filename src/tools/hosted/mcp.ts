import { PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { JsonSchema } from "../../base/schema/schema.ts";
import {
  checkBoolean,
  checkFunction,
  checkKeys,
  checkObjectUnquoted,
  checkText,
  isLine,
  listOf,
  oneOf,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";

/** Which remote server is called, and how. */
export interface McpConfig {
  /** Names the server in calls: a letter, then letters, digits, `_` and `-`. */
  readonly serverLabel: string;
  /** `https:`, or `http:` on this machine. No user or password: those go into `headers`. */
  readonly serverUrl: string;
  /** What the model reads about the server. */
  readonly serverDescription?: string | undefined;
  /** @default all of the server's tools */
  readonly allowedTools?: readonly string[] | McpToolFilter | undefined;
  /** Which calls are put to `approve` first. @default "always" */
  readonly requireApproval?: "always" | "never" | McpApprovalRules | undefined;
  /** An access token. Secret: no error quotes it. */
  readonly authorization?: string | undefined;
  /** Sent to the server. Their values are secret: no error quotes them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The tools that are named, or that their server says only read. */
export interface McpToolFilter {
  readonly toolNames?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface McpApprovalRules {
  readonly always?: McpToolFilter | undefined;
  readonly never?: McpToolFilter | undefined;
}

/** A call that waits to be allowed. */
export interface McpApprovalRequest {
  readonly id: string;
  readonly serverLabel: string;
  /** The server's tool. */
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** Decides whether a remote tool may be called. */
export type McpApprover = (request: McpApprovalRequest) => boolean | Promise<boolean>;

/** What the adapter needs to answer requests for approval. */
export interface McpLive {
  readonly approve: McpApprover;
}

/** What all calls of an evaluation to one server gave. */
export interface McpResult {
  readonly calls: readonly McpCall[];
  /** What the server said it has, if it was asked. */
  readonly tools?: readonly McpListedTool[];
}

/** One call of a remote tool. */
export interface McpCall {
  readonly id: string;
  readonly serverLabel: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
  readonly output: string | null;
  readonly error: string | null;
}

export interface McpListedTool {
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: JsonSchema;
}

export interface McpToolOptions {
  /** @default "mcp" */
  readonly name?: string | undefined;
  /** Allows or refuses a call. @default every call that needs approval is refused */
  readonly approve?: McpApprover | undefined;
}

/** A tool by which the model calls the tools of an MCP server, from the provider's machines. */
export function mcpTool(
  config: McpConfig,
  { name = "mcp", approve }: McpToolOptions = {},
): HostedTool<McpConfig, McpResult, McpLive> {
  checkObjectUnquoted(config, "mcpTool(config)");
  checkKeys<McpConfig>(config, "mcpTool(config)", {
    serverLabel: checkLabel,
    serverUrl: checkServerUrl,
    serverDescription: optional(checkText),
    allowedTools: optional(checkAllowedTools),
    requireApproval: optional(checkApproval),
    authorization: optional(checkSecretLine),
    headers: optional(checkHeaders),
  });
  checkFunction(approve, "mcpTool(options).approve");
  return markChecked(
    new HostedTool({
      kind: "mcp",
      name,
      description: "Call the tools of a remote MCP server.",
      config,
      live: approve && { approve },
    }),
  );
}

function checkLabel(value: unknown, field: string): void {
  if (typeof value === "string" && /^[a-z][a-z0-9_-]*$/i.test(value)) return;
  const rule = "must be a letter, then letters, digits, _ and -";
  throw new PromptValidationError({ field, value, rule, remedy: 'write one like "docs"' });
}

function checkServerUrl(value: unknown, field: string): void {
  const url =
    typeof value === "string" && /^https?:\/\/\S+$/i.test(value) ? URL.parse(value) : null;
  const secret = typeof value === "string" && value.includes("@"); // there may be a password before it
  if (url === null || (url.protocol === "http:" && !thisMachine.has(url.hostname))) {
    const rule = "must be an https: address, or http: on this machine";
    const remedy = 'write one like "https://mcp.example.com/mcp"';
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (url.username === "" && url.password === "") return;
  const rule = "must be without user and password";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "use authorization or headers",
    secret,
  });
}

const thisMachine: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function checkAllowedTools(tools: unknown, field: string): void {
  if (isPlainObject(tools)) checkFilter(tools, field);
  else listOf(checkText)(tools, field);
}

function checkApproval(approval: unknown, field: string): void {
  if (!isPlainObject(approval)) {
    oneOf(["always", "never"])(approval, field);
    return;
  }
  const filter = optional(checkFilter);
  checkKeys<McpApprovalRules>(approval, field, { always: filter, never: filter });
}

function checkFilter(filter: unknown, field: string): void {
  checkKeys<McpToolFilter>(filter, field, {
    toolNames: optional(listOf(checkText)),
    readOnly: optional(checkBoolean),
  });
}

function checkHeaders(headers: unknown, field: string): void {
  checkObjectUnquoted(headers, field);
  for (const [name, value] of Object.entries(headers)) {
    checkHeaderName(name, `${field} key`);
    checkSecretLine(value, `${field}.${name}`);
  }
}

/** Not quoted: it may be a whole header with its value. */
function checkHeaderName(value: string, field: string): void {
  if (/^[!#$%&'*+.^_`|~\w-]+$/.test(value)) return;
  const rule = "must be the name of an HTTP header";
  const remedy = 'write { "X-Name": "its value" }';
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkSecretLine(value: unknown, field: string): void {
  if (isLine(value)) return;
  const rule = "must be one line of text that is not blank";
  const remedy = "give the secret, without line breaks";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

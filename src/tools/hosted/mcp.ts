import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { JsonSchema } from "../../base/schema/schema.ts";
import {
  arrayCheck,
  checkBoolean,
  checkFunction,
  checkKeys,
  checkObjectUnquoted,
  checkSingleLine,
  enumCheck,
  isSingleLine,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";

/** Settings of {@link mcpTool}. */
export interface McpConfig {
  /** Identifies the server in calls: a letter, followed by letters, digits, `_` and `-`. */
  readonly serverLabel: string;
  /**
   * URL of the server: `https:`, or `http:` on the host itself. Must not contain a user or
   * password; use `headers`.
   */
  readonly serverUrl: string;
  /** Description of the server for the model. */
  readonly serverDescription?: string | undefined;
  /** Tools that the model may call. @default all of the server's tools */
  readonly allowedTools?: readonly string[] | McpToolFilter | undefined;
  /** Which calls need the consent of `approve`. @default "always" */
  readonly requireApproval?: "always" | "never" | McpApprovalRules | undefined;
  /** Access token. Secret: never quoted in errors. */
  readonly authorization?: string | undefined;
  /** HTTP headers sent to the server. The values are secret: never quoted in errors. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Selects tools by name, or by the server's read-only declaration. */
export interface McpToolFilter {
  /** Names of the server's tools. */
  readonly toolNames?: readonly string[] | undefined;
  /** Whether the server declares the tool read-only. */
  readonly readOnly?: boolean | undefined;
}

/** Which tools need approval for every call, and which never do. */
export interface McpApprovalRules {
  /** Tools whose calls always need approval. */
  readonly always?: McpToolFilter | undefined;
  /** Tools whose calls never need approval. */
  readonly never?: McpToolFilter | undefined;
}

/** A remote call that waits for approval. */
export interface McpApprovalRequest {
  /** Provider's id of the request. */
  readonly id: string;
  /** Label of the server. */
  readonly serverLabel: string;
  /** Name of the server's tool. */
  readonly name: string;
  /** Arguments as JSON text, exactly as the model wrote them. */
  readonly arguments: string;
}

/** Decides whether a remote tool may be called. */
export type McpApprover = (request: McpApprovalRequest) => boolean | Promise<boolean>;

/** Objects that the adapter needs to answer approval requests. */
export interface McpLive {
  /** Decides whether a call may run. */
  readonly approve: McpApprover;
}

/** The outcome of all calls to one server during an evaluation. */
export interface McpResult {
  /** Every call, in order. */
  readonly calls: readonly McpCall[];
  /** Tools that the server listed; omitted if they were not requested. */
  readonly tools?: readonly McpListedTool[];
}

/** One call to a remote tool. */
export interface McpCall {
  /** Provider's id of the call. */
  readonly id: string;
  /** Label of the server. */
  readonly serverLabel: string;
  /** Name of the server's tool. */
  readonly name: string;
  /** Arguments as JSON text, exactly as the model wrote them. */
  readonly arguments: string;
  /** Output of the call; `null` if it failed. */
  readonly output: string | null;
  /** Error of the call; `null` if it succeeded. */
  readonly error: string | null;
}

/** A tool that an MCP server lists. */
export interface McpListedTool {
  /** Name of the tool on its server. */
  readonly name: string;
  /** The server's description, or `null` if it has none. */
  readonly description: string | null;
  /** JSON Schema of the tool's arguments. */
  readonly inputSchema: JsonSchema;
}

/** Options of {@link mcpTool}. */
export interface McpToolOptions {
  /** Unique within a prompt. @default "mcp" */
  readonly name?: string | undefined;
  /** Approves or denies a call. @default `approve` of `evaluate` decides */
  readonly approve?: McpApprover | undefined;
}

const optionKeys: KnownKeys<McpToolOptions> = {
  approve: true,
  name: true,
};

/**
 * Creates a tool that lets the model call tools on an MCP server, from the provider's machines.
 */
export function mcpTool(
  config: McpConfig,
  options: McpToolOptions = {},
): HostedTool<McpConfig, McpResult, McpLive> {
  checkKnownKeys(options, "mcpTool(options)", optionKeys, PromptValidationError);
  const { name = "mcp", approve } = options;
  checkObjectUnquoted(config, "mcpTool(config)");
  checkKeys<McpConfig>(config, "mcpTool(config)", {
    serverLabel: checkLabel,
    serverUrl: checkServerUrl,
    serverDescription: optional(checkSingleLine),
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
  const rule = "must start with a letter, followed by letters, digits, _ and -";
  throw new PromptValidationError({ field, value, rule, remedy: 'use a label such as "docs"' });
}

function checkServerUrl(value: unknown, field: string): void {
  const url =
    typeof value === "string" && /^https?:\/\/\S+$/i.test(value) ? URL.parse(value) : null;
  const secret = typeof value === "string" && value.includes("@"); // a password may precede the @
  if (url === null || (url.protocol === "http:" && !localHosts.has(url.hostname))) {
    const rule = "must be an https: URL, or http: on localhost";
    const remedy = 'use a URL such as "https://mcp.example.com/mcp"';
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (url.username === "" && url.password === "") return;
  const rule = "must not contain a user or password";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "use authorization or headers",
    secret,
  });
}

const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function checkAllowedTools(tools: unknown, field: string): void {
  if (isPlainObject(tools)) checkFilter(tools, field);
  else arrayCheck(checkSingleLine)(tools, field);
}

function checkApproval(approval: unknown, field: string): void {
  if (!isPlainObject(approval)) {
    enumCheck(["always", "never"])(approval, field);
    return;
  }
  const filter = optional(checkFilter);
  checkKeys<McpApprovalRules>(approval, field, { always: filter, never: filter });
}

function checkFilter(filter: unknown, field: string): void {
  checkKeys<McpToolFilter>(filter, field, {
    toolNames: optional(arrayCheck(checkSingleLine)),
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

/** Does not quote the name, which may be a whole header with its value. */
function checkHeaderName(value: string, field: string): void {
  if (/^[!#$%&'*+.^_`|~\w-]+$/.test(value)) return;
  const rule = "must be an HTTP header name";
  const remedy = 'use { "X-Name": "its value" }';
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkSecretLine(value: unknown, field: string): void {
  if (isSingleLine(value)) return;
  const rule = "must be a non-blank single-line string";
  const remedy = "pass the secret without line breaks";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

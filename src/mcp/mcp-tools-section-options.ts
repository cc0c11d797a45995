import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import { checkEffects, checkNeedsApproval } from "../tools/tool.ts";
import type { NeedsApproval, ToolEffects } from "../tools/tool-context.ts";
import { checkMcpServer, type McpServer } from "./mcp-server.ts";

/** Options of `McpToolsSection`. */
export interface McpToolsSectionOptions {
  /** The server: a program to start, a URL, or a connected client. */
  readonly server: McpServer;
  /**
   * Names of the tools to offer, as the server lists them. A name that the server does not list ends the evaluation.
   * @default all tools
   */
  readonly include?: readonly string[] | undefined;
  /** Names of the tools to leave out, as the server lists them. @default none */
  readonly exclude?: readonly string[] | undefined;
  /** Text put before each name as it is, such as `"github_"`. @default "" */
  readonly prefix?: string | undefined;
  /**
   * Whether a call that a crash interrupted may run again when the evaluation is resumed.
   * @default "none" for tools that the server declares read-only, otherwise "once"
   */
  readonly effects?: ToolEffects | undefined;
  /** Whether a call waits for approval; a function decides for each call. @default false */
  readonly needsApproval?: NeedsApproval<UnknownRecord> | undefined;
  /** Checked before each call. @default none */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** Longest time for connecting and for listing the tools, each, in milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Longest time for one call, in milliseconds. The evaluation's deadline ends a call earlier. @default 300000
   */
  readonly callTimeoutMs?: number | undefined;
  /** Key of the section. @default "mcp" */
  readonly key?: string | undefined;
}

/** The options with their defaults. */
export interface McpToolsSettings extends McpToolsSectionOptions {
  readonly exclude: readonly string[];
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly callTimeoutMs: number;
  readonly key: string;
}

const keys: KnownKeys<McpToolsSectionOptions> = {
  callTimeoutMs: true,
  effects: true,
  exclude: true,
  include: true,
  key: true,
  needsApproval: true,
  policies: true,
  prefix: true,
  server: true,
  timeoutMs: true,
};

/** Checks the options, copies them and adds the defaults. */
export function checkMcpToolsOptions(options: McpToolsSectionOptions): McpToolsSettings {
  checkKnownKeys(options, "McpToolsSection", keys, PromptValidationError);
  const { include, exclude = [], prefix = "", key = "mcp" } = options;
  const { timeoutMs = 30_000, callTimeoutMs = 300_000 } = options;
  const server = checkMcpServer(options.server, "McpToolsSection.server");
  checkNames(include, "include");
  checkNames(exclude, "exclude");
  checkPrefix(prefix);
  checkMilliseconds(timeoutMs, "timeoutMs");
  checkMilliseconds(callTimeoutMs, "callTimeoutMs");
  checkEffects(options.effects, "McpToolsSection.effects");
  checkNeedsApproval(options.needsApproval, "McpToolsSection.needsApproval");
  return Object.freeze({
    ...options,
    server,
    include: include && Object.freeze([...include]),
    exclude: Object.freeze([...exclude]),
    prefix,
    timeoutMs,
    callTimeoutMs,
    key,
  });
}

function checkNames(names: readonly string[] | undefined, name: "include" | "exclude"): void {
  if (names === undefined) return;
  if (Array.isArray(names) && names.every((one) => typeof one === "string")) return;
  const rule = "must be an array of tool names";
  const remedy = "use the names that the server lists";
  throw PromptValidationError.at("McpToolsSection")(name, names, rule, remedy);
}

function checkPrefix(prefix: string): void {
  if (typeof prefix === "string" && /^[A-Za-z0-9_-]{0,63}$/.test(prefix)) return;
  const rule = "must be at most 63 of A-Z, a-z, 0-9, _ and -";
  throw PromptValidationError.at("McpToolsSection")("prefix", prefix, rule, 'use "github_"');
}

function checkMilliseconds(value: number, name: string): void {
  if (Number.isInteger(value) && value > 0 && value < 2 ** 31) return;
  const rule = "must be a positive integer of milliseconds below 2^31";
  throw PromptValidationError.at("McpToolsSection")(name, value, rule, "omit it for the default");
}

import { isAbsolute } from "node:path";
import { PromptValidationError } from "../base/errors.ts";
import type { IsolationConfig } from "./isolation.ts";

/**
 * The actions that a model may take:
 *
 * - `"dontAsk"`: use every tool of the prompt.
 * - `"bypassPermissions"`: the same, because the SDK does not allow its own mode of that name for root.
 * - `"acceptEdits"`: edit files, run simple file commands, use your own tools.
 * - `"default"`: read, and use your own tools.
 * - `"plan"`: read only.
 *
 * Web search works in every mode. All other actions are denied without a permission prompt.
 */
export type PermissionMode = (typeof permissionModes)[number];

/** All permission modes. */
export const permissionModes = Object.freeze([
  "dontAsk",
  "acceptEdits",
  "plan",
  "default",
  "bypassPermissions",
] as const);

/** The tools that are enabled for one run, and the folders they may use. */
export interface PermittedTools {
  /** By the SDK's names: `"Bash"`, `"Read"`. */
  readonly native: readonly string[];
  /** The prompt's own tools, by the names that the model uses: `"mcp__wink__add"`. */
  readonly bridged: readonly string[];
  /** The real path of the SDK's working folder. */
  readonly workspace: string;
  readonly isolation: IsolationConfig;
}

/** The SDK's permission options, by its names. */
export interface PermissionOptions {
  readonly permissionMode: Exclude<PermissionMode, "bypassPermissions">;
  readonly permissionPrompts: "none";
  readonly allowedTools: readonly string[];
}

/**
 * Returns the permission rules of a run. The SDK's file tools run in its own process, outside the
 * sandbox, so their rules name the folders that they may read and write.
 */
export function toPermissionOptions(
  mode: PermissionMode,
  tools: PermittedTools,
): PermissionOptions {
  checkPlainPath(tools.workspace, "workspace");
  const allowsAll = mode === "dontAsk" || mode === "bypassPermissions";
  const { readablePaths = [], writablePaths = [] } = tools.isolation.sandbox ?? {};
  const readable = [...readablePaths, ...writablePaths].map((path) => `Read(/${path}/**)`);
  const writable = [tools.workspace, ...writablePaths].map((path) => `Edit(/${path}/**)`);
  const allowedTools = [
    ...tools.bridged,
    ...readable,
    ...(allowsAll && tools.native.some((name) => EDIT_TOOLS.has(name)) ? writable : []),
    ...tools.native
      .filter((name) => allowsAll || name === SEARCH_TOOL)
      .flatMap((name) => toPermissionRules(name, tools.isolation)),
  ];
  return {
    permissionMode: mode === "bypassPermissions" ? "dontAsk" : mode,
    permissionPrompts: "none",
    allowedTools,
  };
}

/** Throws for a path that the SDK would resolve, or interpret as a pattern. */
export function checkPlainPath(value: unknown, field: string): void {
  if (typeof value === "string" && isAbsolute(value) && !/[*?[\]{}()!\\\p{Cc}]/u.test(value))
    return;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be an absolute path without any of * ? [ ] { } ( ) ! \\",
    remedy: 'use a full path like "/opt/data"; a folder includes everything below it',
  });
}

const EDIT_TOOLS = new Set(["Edit", "Write", "NotebookEdit"]);
/** Reads only, but without a rule the SDK would prompt for permission. */
const SEARCH_TOOL = "WebSearch";
/** These read the workspace without a rule. A rule would let them read the whole host. */
const READ_TOOLS = new Set(["Read", "Glob", "Grep"]);

function toPermissionRules(name: string, { networkPolicy }: IsolationConfig): readonly string[] {
  if (EDIT_TOOLS.has(name) || READ_TOOLS.has(name)) return [];
  if (name !== "WebFetch") return [name];
  const domains = networkPolicy?.type === "allowlist" ? networkPolicy.allowedDomains : [];
  return domains.map((domain) => `WebFetch(domain:${domain})`);
}

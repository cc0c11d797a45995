import { isAbsolute } from "node:path";
import { PromptValidationError } from "../base/errors.ts";
import type { IsolationConfig } from "./isolation.ts";

/**
 * What a model may do: everything that is switched on (`"dontAsk"`; `"bypassPermissions"` is the same,
 * because the SDK refuses its own mode of that name to root), edits and only simple commands on files
 * (`"acceptEdits"`), reading and your own tools (`"default"`), or only reading (`"plan"`). The web may be
 * searched in every mode. Everything else is denied; nothing asks for permission.
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

/** The tools that are switched on for one run, and where they work. */
export interface PermittedTools {
  /** By the SDK's names: `"Bash"`, `"Read"`. */
  readonly native: readonly string[];
  /** Our own tools, by the names that the model uses: `"mcp__wink__add"`. */
  readonly bridged: readonly string[];
  /** The real path of the folder that the SDK works in. */
  readonly workspace: string;
  readonly isolation: IsolationConfig;
}

/** The SDK's options of the same names. */
export interface PermissionOptions {
  readonly permissionMode: Exclude<PermissionMode, "bypassPermissions">;
  readonly permissionPrompts: "none";
  readonly allowedTools: readonly string[];
}

/**
 * Returns the permission rules of a run. The SDK's tools for files run in its own process, outside the
 * sandbox, so they get only rules for the folders that they may read and write.
 */
export function permissionOptions(mode: PermissionMode, tools: PermittedTools): PermissionOptions {
  checkPlainPath(tools.workspace, "workspace");
  const allowsAll = mode === "dontAsk" || mode === "bypassPermissions";
  const { readablePaths = [], writablePaths = [] } = tools.isolation.sandbox ?? {};
  const readable = [...readablePaths, ...writablePaths].map((path) => `Read(/${path}/**)`);
  const writable = [tools.workspace, ...writablePaths].map((path) => `Edit(/${path}/**)`);
  const allowedTools = [
    ...tools.bridged,
    ...readable,
    ...(allowsAll && tools.native.some((name) => EDITING.has(name)) ? writable : []),
    ...tools.native
      .filter((name) => allowsAll || name === SEARCHING)
      .flatMap((name) => toRules(name, tools.isolation)),
  ];
  return {
    permissionMode: mode === "bypassPermissions" ? "dontAsk" : mode,
    permissionPrompts: "none",
    allowedTools,
  };
}

/** Throws for a path that the SDK would resolve, or read as a pattern. */
export function checkPlainPath(value: unknown, field: string): void {
  if (typeof value === "string" && isAbsolute(value) && !/[*?[\]{}()!\\\p{Cc}]/u.test(value))
    return;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be an absolute path without any of * ? [ ] { } ( ) ! \\",
    remedy: 'write the whole path, like "/opt/data"; a folder stands for all below it',
  });
}

const EDITING = new Set(["Edit", "Write", "NotebookEdit"]);
/** It changes nothing, but the SDK would ask for permission. */
const SEARCHING = "WebSearch";
/** They may read the workspace without a rule. With one they could read the whole machine. */
const READING = new Set(["Read", "Glob", "Grep"]);

function toRules(name: string, { networkPolicy }: IsolationConfig): readonly string[] {
  if (EDITING.has(name) || READING.has(name)) return [];
  if (name !== "WebFetch") return [name];
  const domains = networkPolicy?.type === "allowlist" ? networkPolicy.allowedDomains : [];
  return domains.map((domain) => `WebFetch(domain:${domain})`);
}

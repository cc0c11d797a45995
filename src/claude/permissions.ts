import { isAbsolute } from "node:path";
import { PromptValidationError } from "../base/errors.ts";
import type { IsolationConfig } from "./isolation.ts";

/**
 * What a model may do unasked: exactly what is switched on (`"dontAsk"`, and `"bypassPermissions"`, which
 * the SDK refuses to root under its own name), no commands but simple ones on files (`"acceptEdits"`),
 * reading and your own tools (`"default"`), or reading alone (`"plan"`). The web may be searched in all
 * of them. What is not allowed is denied.
 */
export type PermissionMode = (typeof permissionModes)[number];

/** All of them. */
export const permissionModes = Object.freeze([
  "dontAsk",
  "acceptEdits",
  "plan",
  "default",
  "bypassPermissions",
] as const);

/** What is switched on for one run, and where. */
export interface PermittedTools {
  /** By the SDK's names: `"Bash"`, `"Read"`. */
  readonly native: readonly string[];
  /** Our own, by the names that the model calls them: `"mcp__wink__add"`. */
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
 * The rules under which tools run. The SDK's tools for files work in its own process, which no
 * sandbox binds: they get no rule of their own but folders in which they may read and write.
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
      .flatMap((name) => rulesOf(name, tools.isolation)),
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
/** It changes nothing, and the SDK would ask about it all the same. */
const SEARCHING = "WebSearch";
/** They may read the workspace without a rule, and with one the whole machine. */
const READING = new Set(["Read", "Glob", "Grep"]);

function rulesOf(name: string, { networkPolicy }: IsolationConfig): readonly string[] {
  if (EDITING.has(name) || READING.has(name)) return [];
  if (name !== "WebFetch") return [name];
  const domains = networkPolicy?.type === "allowlist" ? networkPolicy.allowedDomains : [];
  return domains.map((domain) => `WebFetch(domain:${domain})`);
}

import type { ApprovableCall } from "../../adapter/approvals/approvable-call.ts";
import type { HostedCall } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readString, readStringOrNull, type UnknownRecord } from "../../base/json.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { asHostedTool } from "../../tools/as-hosted-tool.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { NeedsApproval } from "../../tools/tool-context.ts";
import type { Verdict } from "../workspace/bounds.ts";
import type { CallLog, NativeName, ReportedTool } from "./hosted-kind.ts";
import { findNativeTool, findOwner, findOwners, listNativeNames } from "./hosted-kinds.ts";

/** Options of the native tools in one evaluation. */
export interface NativeToolsOptions {
  /** The workspace's folder; `null` if the prompt has no workspace. */
  readonly workspace: string | null;
  /** `"plan"` enables only read-only tools. @default any other mode */
  readonly permissionMode?: string | undefined;
  /** Other readable folders, where the SDK stores long outputs. @default none */
  readonly readable?: readonly string[] | undefined;
}

/** A native call that the model requests. */
export interface NativeUse {
  readonly name: string;
  readonly input: UnknownRecord;
  /** The folder that relative paths start from. @default the workspace */
  readonly cwd?: string | undefined;
}

/** A native call that has succeeded or failed. */
export interface EndedCall {
  readonly id: string;
  readonly name: string;
  readonly input: UnknownRecord;
  /** The tool's response, in the tool's own format. */
  readonly response: unknown;
  /** The reason why the call failed or was not run; `null` if it succeeded. */
  readonly error: string | null;
}

/** Enables native tools for one evaluation, checks their calls, and collects their results. */
export class NativeTools {
  /** The names of the enabled tools. They stay enabled for the whole run. */
  readonly names: readonly NativeName[];
  readonly #options: NativeToolsOptions;
  /** Logs of tools with a typed output, by the SDK's tool name. */
  readonly #logs = new Map<string, { readonly owner: string; readonly log: CallLog }>();
  #hostedTools: readonly HostedTool[];

  constructor(hostedTools: readonly HostedTool[], options: NativeToolsOptions) {
    this.#hostedTools = hostedTools;
    this.#options = options;
    const { permissionMode, workspace } = options;
    const wanted = hostedTools.flatMap(({ kind }) => listNativeNames(kind, permissionMode));
    const canRun = (name: string) => workspace !== null || !findNativeTool(name)?.needsWorkspace;
    this.names = Object.freeze([...new Set(wanted)].filter(canRun));
  }

  /** Whether a tool is enabled. Its calls may still be denied until its section is open. */
  isEnabled(name: string): boolean {
    return this.names.some((enabled) => enabled === name);
  }

  /** Sets the newly rendered prompt's hosted tools. Calls to other tools are denied. */
  setHostedTools(hostedTools: readonly HostedTool[]): void {
    this.#hostedTools = hostedTools;
  }

  /** Returns the input to run a call with, or why the call is denied. */
  async beforeCall({ name, input, cwd }: NativeUse): Promise<Verdict> {
    const owner = this.#findOwner(name);
    const native = findNativeTool(name);
    if (owner === null || native === null) return { denied: `${name} is not available now` };
    const { workspace, readable = [] } = this.#options;
    const bounds = workspace === null ? null : { workspace, cwd: cwd ?? workspace, readable };
    return await native.judge({ owner, input, bounds });
  }

  /** Returns the call of a hosted tool that must be approved before a native call runs; `null` if none must. */
  findApproval({ name, input }: NativeUse): Omit<ApprovableCall, "callId"> | null {
    const native = findNativeTool(name);
    if (!native || native.isReadOnly || !this.isEnabled(name)) return null;
    for (const tool of findOwners(name, this.#hostedTools)) {
      const { needsApproval = false }: ApprovableTool = tool.live;
      if (needsApproval === false) continue;
      const params = native.toParams?.(input) ?? input;
      return { name: tool.name, params, needsApproval, isRepeated: true };
    }
    return null;
  }

  /** Returns how calls to a tool are reported while they run; `null` if the tool is not available. */
  findReported(name: string): ReportedTool | null {
    const owner = this.#findOwner(name);
    return owner && { kind: owner.kind, codeField: findNativeTool(name)?.codeField };
  }

  /** Converts an ended call to a call of the prompt's hosted tool; `null` if the tool is missing. */
  toHostedCall({ id, name, input, response, error }: EndedCall): HostedCall | null {
    const owner = this.#findOwner(name);
    if (owner === null) return null;
    const identity = { name: owner.name, kind: owner.kind, callId: id };
    const raw = { type: "tool_use", id, name, input, response, ...(error !== null && { error }) };
    const failure = error === null ? null : toFailureMessage(error);
    const log = this.#logs.get(name)?.log ?? findNativeTool(name)?.createLog?.();
    if (log) {
      this.#logs.set(name, { owner: owner.name, log });
      return { ...identity, ...log.add(id, input, { response, error: failure }), raw };
    }
    return {
      ...identity,
      params: input,
      output: null,
      success: hasSucceeded({ name, id, input, response, error }),
      message: failure ?? toSuccessMessage(name, input, response),
      raw,
    };
  }

  /** Adds an interrupted evaluation's calls to the outputs. Their items were made by `toHostedCall`. */
  replay(calls: readonly HostedCall[]): void {
    for (const { raw } of calls) {
      if (!isPlainObject(raw)) continue;
      const use = { id: readString(raw, "id"), name: readString(raw, "name") };
      const input = readRecord(raw, "input");
      const error = readStringOrNull(raw, "error");
      this.toHostedCall({ ...use, input, response: raw["response"] ?? null, error });
    }
  }

  /** Lists the typed output of each hosted tool for all turns. `text` is the model's answer. */
  *listHostedOutputs(text: string): Iterable<readonly [name: string, output: unknown]> {
    for (const { owner, log } of this.#logs.values()) {
      const result = log.toResult(text);
      if (result !== null) yield [owner, result];
    }
  }

  /** Finds citations of search results in `text`. */
  findCitations(text: string): readonly Citation[] {
    return [...this.#logs.values()].flatMap(({ log }) => log.toResult(text)?.citations ?? []);
  }

  #findOwner(name: string): HostedTool | null {
    return this.isEnabled(name) ? findOwner(name, this.#hostedTools) : null;
  }
}

/** The live part of a hosted tool whose calls may need approval. */
interface ApprovableTool {
  readonly needsApproval?: NeedsApproval<unknown> | undefined;
}

/** Whether a call that has ended succeeded. */
export function hasSucceeded({ id, name, input, response, error }: EndedCall): boolean {
  const log = findNativeTool(name)?.createLog?.();
  if (log) return log.add(id, input, { response, error }).success;
  return error === null && !isInterrupted(response);
}

/**
 * Lists the hosted tools of summarized sections, which the model may open later. SDK tools can only be
 * enabled when the SDK starts, so these are enabled from the beginning, and calls are denied until the
 * section is open.
 */
export function listUndisclosedTools(
  { template }: Prompt,
  allowed: boolean | readonly string[] = true,
): readonly HostedTool[] {
  if (allowed === false) return [];
  return template.outline
    .filter(({ section }) => section.summary !== null)
    .flatMap((top) => template.outline.filter((one) => isInSubtree(one.path, top.path)))
    .flatMap(({ section }) => [...section.hostedTools(), ...section.tools().flatMap(asHostedTool)])
    .filter(
      ({ name, kind }) => allowed === true || allowed.includes(name) || allowed.includes(kind),
    );
}

/** Summarizes a successful native call for events. */
export function toSuccessMessage(name: string, input: UnknownRecord, response: unknown): string {
  if (typeof response === "string") return truncate(response);
  return truncate(
    findNativeTool(name)?.describe?.(input, isPlainObject(response) ? response : {}) ?? "",
  );
}

/** Returns why a call failed, without the markup that the SDK adds for the model. */
export function toFailureMessage(error: string): string {
  const [, inner] = /^<tool_use_error>(?:Error: )?(.*)<\/tool_use_error>$/s.exec(error) ?? [];
  return truncate(
    (inner ?? error).replace(/^PreToolUse:\w+ hook error: /, "") || "The call failed",
  );
}

function isInSubtree(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}.`);
}

/** Maximum characters of a message in an event. */
const MAX_MESSAGE_CHARS = 10_000;

function truncate(text: string): string {
  if (text.length <= MAX_MESSAGE_CHARS) return text;
  return `${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}… (${text.length - MAX_MESSAGE_CHARS} more characters)`;
}

function isInterrupted(response: unknown): boolean {
  return isPlainObject(response) && response["interrupted"] === true;
}

import type { HostedCall } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { projectedTool } from "../../tools/projected-tool.ts";
import type { Verdict } from "../workspace/bounds.ts";
import type { CallLog, NativeName } from "./hosted-kind.ts";
import { findNative, findOwner, nativeNames } from "./hosted-to-native.ts";

/** What the SDK's own tools work with in one evaluation. */
export interface NativeToolsOptions {
  /** The workspace's folder; `null` if the prompt has none. */
  readonly workspace: string | null;
  /** `"plan"` switches on only tools that read. @default any other mode */
  readonly permissionMode?: string | undefined;
  /** Other folders that may be read, where the SDK puts long outputs. @default none */
  readonly readable?: readonly string[] | undefined;
}

/** A call of one of the SDK's own tools that the model asks for. */
export interface NativeUse {
  readonly name: string;
  readonly input: UnknownRecord;
  /** Where relative paths start. @default the workspace */
  readonly cwd?: string | undefined;
}

/** A call of one of the SDK's own tools that has succeeded or failed. */
export interface EndedCall {
  readonly id: string;
  readonly name: string;
  readonly input: UnknownRecord;
  /** In the tool's own shape. */
  readonly response: unknown;
  /** Why it failed or was not run; `null` if it succeeded. */
  readonly error: string | null;
}

/** The SDK's own tools in one evaluation: which are on, what they may do, and what they did. */
export class NativeTools {
  /** The SDK's names of the tools that are on. They stay on for the whole run. */
  readonly names: readonly NativeName[];
  readonly #options: NativeToolsOptions;
  /** Calls that make a typed output, by the SDK's name of their tool. */
  readonly #logs = new Map<string, { readonly owner: string; readonly log: CallLog }>();
  #hostedTools: readonly HostedTool[];

  constructor(hostedTools: readonly HostedTool[], options: NativeToolsOptions) {
    this.#hostedTools = hostedTools;
    this.#options = options;
    const { permissionMode, workspace } = options;
    const wanted = hostedTools.flatMap(({ kind }) => nativeNames(kind, permissionMode));
    const canRun = (name: string) => workspace !== null || !findNative(name)?.needsWorkspace;
    this.names = Object.freeze([...new Set(wanted)].filter(canRun));
  }

  /** Whether the SDK has a tool of that name. The model may not be allowed to call it yet. */
  isOn(name: string): boolean {
    return this.names.some((on) => on === name);
  }

  /** Takes the hosted tools of a newly rendered prompt. Calls of all others are refused. */
  render(hostedTools: readonly HostedTool[]): void {
    this.#hostedTools = hostedTools;
  }

  /** Returns the input to run a call with, or why the call is refused. */
  async before({ name, input, cwd }: NativeUse): Promise<Verdict> {
    const owner = this.#findOwner(name);
    const native = findNative(name);
    if (owner === null || native === null) return { denied: `${name} is not open to you now` };
    const { workspace, readable = [] } = this.#options;
    const bounds = workspace === null ? null : { workspace, cwd: cwd ?? workspace, readable };
    return await native.judge({ owner, input, bounds });
  }

  /** Converts an ended call to a call of the prompt's hosted tool; `null` if there is none now. */
  hostedCall({ id, name, input, response, error }: EndedCall): HostedCall | null {
    const owner = this.#findOwner(name);
    if (owner === null) return null;
    const identity = { name: owner.name, kind: owner.kind, callId: id };
    const raw = { type: "tool_use", id, name, input, response, ...(error !== null && { error }) };
    const failure = error === null ? null : nativeFailure(error);
    const log = this.#logs.get(name)?.log ?? findNative(name)?.createLog?.();
    if (log) {
      this.#logs.set(name, { owner: owner.name, log });
      return { ...identity, ...log.add(id, input, { response, error: failure }), raw };
    }
    return {
      ...identity,
      params: input,
      output: null,
      success: failure === null && !isInterrupted(response),
      message: failure ?? nativeMessage(name, input, response),
      raw,
    };
  }

  /** Lists the typed output of each hosted tool over all turns. `text` is the answer. */
  *hostedOutputs(text: string): Iterable<readonly [name: string, output: unknown]> {
    for (const { owner, log } of this.#logs.values()) {
      const result = log.result(text);
      if (result !== null) yield [owner, result];
    }
  }

  /** Lists what `text` cites of all that was found, with the positions. */
  citations(text: string): readonly Citation[] {
    return [...this.#logs.values()].flatMap(({ log }) => log.result(text)?.citations ?? []);
  }

  #findOwner(name: string): HostedTool | null {
    return this.isOn(name) ? findOwner(name, this.#hostedTools) : null;
  }
}

/**
 * Lists the hosted tools of summarized sections, which the model may open later. The SDK's tools are
 * switched on when it starts, so these are on from the start, and each call is refused until its
 * section is open.
 */
export function undisclosedTools(
  { template }: Prompt,
  allowed: boolean | readonly string[] = true,
): readonly HostedTool[] {
  if (allowed === false) return [];
  return template.outline
    .filter(({ section }) => section.summary !== null)
    .flatMap((top) => template.outline.filter((one) => isBelow(one.path, top.path)))
    .flatMap(({ section }) => [...section.hostedTools(), ...section.tools().flatMap(projectedTool)])
    .filter(
      ({ name, kind }) => allowed === true || allowed.includes(name) || allowed.includes(kind),
    );
}

/** Summarizes a successful call of one of the SDK's tools. */
export function nativeMessage(name: string, input: UnknownRecord, response: unknown): string {
  if (typeof response === "string") return cut(response);
  return cut(findNative(name)?.describe?.(input, isPlainObject(response) ? response : {}) ?? "");
}

/** Says why a call failed, without the markup that the SDK adds for the model. */
export function nativeFailure(error: string): string {
  const [, inner] = /^<tool_use_error>(?:Error: )?(.*)<\/tool_use_error>$/s.exec(error) ?? [];
  return cut((inner ?? error).replace(/^PreToolUse:\w+ hook error: /, "") || "It failed");
}

function isBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}.`);
}

/** The most characters of a message that an event keeps. */
const LONGEST = 10_000;

function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST).toWellFormed()}… (${text.length - LONGEST} more characters)`;
}

function isInterrupted(response: unknown): boolean {
  return isPlainObject(response) && response["interrupted"] === true;
}

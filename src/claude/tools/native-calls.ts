import type { HostedCall } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { Given } from "../given.ts";
import { type Verdict, withinBounds } from "../workspace/bounds.ts";
import { nativeFailure, nativeMessage } from "./native-message.ts";
import { type NativeName, ownerOf, portedTo } from "./ported-kinds.ts";
import { domainRule, keptToDomains } from "./search-domains.ts";
import { WebSearches } from "./web-searches.ts";

export interface NativeToolsOptions {
  /** The workspace's folder; `null` if the prompt has none. */
  readonly workspace: string | null;
  /** `"plan"` switches on only what reads. @default anything else */
  readonly permissionMode?: string | undefined;
  /** Folders besides it that may be read: where the SDK puts what is too long. @default none */
  readonly readable?: readonly string[] | undefined;
}

/** A call that the model asks for. */
export interface NativeUse {
  readonly name: string;
  readonly input: Given;
  /** Where relative paths start. @default the workspace */
  readonly cwd?: string | undefined;
}

/** A call that has ended, well or not. */
export interface EndedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Given;
  /** What it gave, in the tool's own shape. */
  readonly response: unknown;
  /** Why it failed, or was not run; `null` if it was. */
  readonly error: string | null;
}

/** The SDK's own tools in one evaluation: which are on, what they may do, and what they did. */
export class NativeTools {
  /** The SDK's names of what is switched on; they stay so for the whole run. */
  readonly names: readonly NativeName[];
  readonly #options: NativeToolsOptions;
  readonly #searches = new WebSearches();
  #searchName: string | null = null;
  #hostedTools: readonly HostedTool[];

  constructor(hostedTools: readonly HostedTool[], options: NativeToolsOptions) {
    this.#hostedTools = hostedTools;
    this.#options = options;
    const { permissionMode, workspace } = options;
    const wanted = hostedTools.flatMap(({ kind }) => portedTo(kind, permissionMode));
    const isThere = (name: NativeName) => workspace !== null || !needFolder.has(name);
    this.names = Object.freeze([...new Set(wanted)].filter(isThere));
  }

  /** Whether the SDK has a tool of that name, open to the model now or not. */
  isOn(name: string): boolean {
    return this.names.some((on) => on === name);
  }

  /** The prompt has been rendered anew: a tool that it no longer has is not run. */
  render(hostedTools: readonly HostedTool[]): void {
    this.#hostedTools = hostedTools;
  }

  /** What a call is to be made with, or why it is not to be made. */
  async before({ name, input, cwd }: NativeUse): Promise<Verdict> {
    const owner = this.#ownerOf(name);
    if (owner === null) return { denied: `${name} is not open to you now` };
    if (name === "Bash") return bashVerdict(input);
    if (name === "WebSearch") return searchVerdict(owner, input);
    const { workspace, readable = [] } = this.#options;
    if (workspace === null) return { denied: `${name} has no files to work on` };
    return await withinBounds(name, input, { workspace, cwd: cwd ?? workspace, readable });
  }

  /** The call as one of the prompt's hosted tool; `null` if it has none for it now. */
  hostedCall({ id, name, input, response, error }: EndedCall): HostedCall | null {
    const owner = this.#ownerOf(name);
    if (owner === null) return null;
    const identity = { name: owner.name, kind: owner.kind, callId: id };
    const raw = { type: "tool_use", id, name, input, response, ...(error !== null && { error }) };
    const failure = error === null ? null : nativeFailure(error);
    if (name === "WebSearch") {
      this.#searchName = owner.name;
      return { ...identity, ...this.#searches.add(id, input, { response, error: failure }), raw };
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

  /** What each hosted tool gave over all turns; `text` is the answer. */
  *hostedOutputs(text: string): Iterable<readonly [name: string, output: unknown]> {
    const result = this.#searches.result(text);
    if (result !== null && this.#searchName !== null) yield [this.#searchName, result];
  }

  /** The pages of all searches that a text cites, with their places in it. */
  citations(text: string): readonly Citation[] {
    return this.#searches.result(text)?.citations ?? [];
  }

  #ownerOf(name: string): HostedTool | null {
    return this.isOn(name) ? ownerOf(name, this.#hostedTools) : null;
  }
}

const needFolder: ReadonlySet<NativeName> = new Set(["Read", "Glob", "Grep", "Write", "Edit"]);

/** Nothing may outlive the run, and nothing may leave its sandbox. */
function bashVerdict(input: Given): Verdict {
  const { run_in_background: inBackground, dangerouslyDisableSandbox: isUnbound } = input;
  if (inBackground !== undefined && inBackground !== false) {
    return { denied: "Commands may not run in the background: run it, and wait for it" };
  }
  if (isUnbound !== undefined && isUnbound !== false) {
    return { denied: "Commands may not leave the sandbox: leave dangerouslyDisableSandbox out" };
  }
  return { input };
}

function searchVerdict(owner: HostedTool, input: Given): Verdict {
  const { config } = checkedConfig(owner, () => webSearchTool(owner.config));
  const rule = domainRule(config.domainFilter);
  if (rule === null) return { denied: "The web may not be searched: what is allowed is blocked" };
  return keptToDomains(rule, input);
}

function isInterrupted(response: unknown): boolean {
  return isPlainObject(response) && response["interrupted"] === true;
}

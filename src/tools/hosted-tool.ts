import { PromptValidationError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { checkDescription, checkOptions, checkToolName } from "../base/names.ts";
import { list } from "../base/show.ts";
import { checkFunction } from "./config-checks.ts";
import { madeAs } from "./made-as.ts";
import type { ToolHandler } from "./tool-context.ts";

/** What a `HostedTool` is made from. */
export interface HostedToolOptions<Config, Output, Live = object> {
  /** The capability, in no provider's words: `"web_search"`. Adapters look their codec up by it. */
  readonly kind: string;
  /** Unique within a prompt; outputs are filed under it. Matches `^[a-z0-9_-]{1,64}$`. */
  readonly name: string;
  readonly description: string;
  /** Plain data. */
  readonly config: Config;
  /** Executors, file systems, callbacks: what the config cannot hold. */
  readonly live?: Live | undefined;
  /** The adapter it belongs to. @default any whose codecs know the kind */
  readonly provider?: string | undefined;
  /** Looks at what the codec parsed, and may replace it. */
  readonly handleProviderOutput?: ToolHandler<Output, Output> | null | undefined;
}

/**
 * A capability the provider runs on its own machines. An adapter's codec knows its wire form.
 *
 * `Output` is what that codec parses. Nothing in the options says it, so a factory states it in
 * its return type, and `response.hostedOutputs.get(tool)` has it from there.
 */
export class HostedTool<
  Config extends object = object,
  Output = unknown,
  Live extends object = object,
> {
  /** Carries the type of what the codec parses; never set. */
  declare readonly "~output": Output;
  readonly kind: string;
  readonly name: string;
  readonly description: string;
  readonly config: Config;
  readonly live: Partial<Live>;
  readonly provider: string | null;
  readonly handleProviderOutput: ToolHandler<Output, Output> | null;

  constructor(options: HostedToolOptions<Config, Output, Live>) {
    this.name = checkToolName(checkOptions(options, "HostedTool").name, "HostedTool.name");
    const field = (name: string) => `HostedTool "${this.name}" ${name}`;
    this.kind = checkToolName(options.kind, field("kind"));
    this.description = checkDescription(options.description, field("description"));
    this.config = frozenCopy(checkConfig(options.config, field("config")));
    this.live = Object.freeze({ ...options.live });
    this.provider =
      options.provider === undefined ? null : checkToolName(options.provider, field("provider"));
    this.handleProviderOutput =
      checkFunction(options.handleProviderOutput, field("handleProviderOutput")) ?? null;
    if (new.target === HostedTool) Object.freeze(this);
  }
}

/** Returns `config` if it is plain data. */
export function checkConfig<Config extends object>(config: Config, field: string): Config {
  if (isPlainObject(config)) return config;
  const rule = "must be a plain object";
  throw new PromptValidationError({
    field,
    value: config,
    rule,
    remedy: "write { … }, or {} for the defaults",
  });
}

const checkedTools = new WeakSet<object>();

/** Marks a tool whose config its factory has checked. */
export function markChecked<Made extends object>(tool: Made): Made {
  checkedTools.add(tool);
  return tool;
}

/**
 * Checks a tool's config with the tool's factory, unless the factory made the tool: one that was
 * made with `new HostedTool` is not checked yet. Returns the tool as the factory makes it.
 */
export function checkedConfig<Made extends { readonly name: string }>(
  tool: { readonly name: string },
  make: () => Made,
): Made {
  if (checkedTools.has(tool)) return tool as Made;
  const options = `Hosted tool "${tool.name}" `;
  return madeAs({ config: `${options}config`, options }, make);
}

/**
 * Refuses two tools of one kind: what comes back names no tool. `labelOf` gives what the provider
 * does tell two of them apart by, where it does.
 */
export function checkApart(
  tools: readonly HostedTool[],
  promptName: string,
  labelOf: (tool: HostedTool) => string | null | undefined = () => null,
): void {
  const first = new Map<string, HostedTool>();
  for (const tool of tools) {
    const key = JSON.stringify([tool.kind, labelOf(tool) ?? null]);
    const other = first.get(key);
    first.set(key, tool);
    if (!other) continue;
    const both = list([other.name, tool.name]);
    const message = `There are two hosted tools of kind "${tool.kind}", ${both}, and what comes back would not say whose it is: keep one`;
    throw new PromptEvaluationError(message, { promptName, phase: "render" });
  }
}

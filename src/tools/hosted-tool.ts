import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { checkDescription, checkOptions, checkToolName } from "../base/names.ts";
import { checkFunction } from "./config-checks.ts";
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

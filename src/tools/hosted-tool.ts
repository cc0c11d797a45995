import { checkHostedDescription, checkHostedName, checkOptions } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import { checkFunction } from "./config-checks.ts";
import { renameConfigError } from "./rename-config-error.ts";
import type { ToolHandler } from "./tool-context.ts";

/** Options of {@link HostedTool}. */
export interface HostedToolOptions<Config, Output, Live = object> {
  /**
   * Provider-neutral name of the capability, such as `"web_search"`. Adapters use it to look
   * up their codec.
   */
  readonly kind: string;
  /**
   * Unique within a prompt, and the key of its entry in `hostedOutputs`. Matches
   * `^[a-z0-9_-]{1,64}$`.
   */
  readonly name: string;
  /** 1-200 ASCII characters. */
  readonly description: string;
  /** Settings as plain data; copied and deep-frozen. */
  readonly config: Config;
  /** Executors, file systems and callbacks, which cannot be plain data. */
  readonly live?: Live | undefined;
  /**
   * Name of the only adapter that may use the tool. @default any adapter with a codec for the kind
   */
  readonly provider?: string | undefined;
  /** Receives the output that the codec parsed, and may replace it. */
  readonly handleProviderOutput?: ToolHandler<Output, Output> | null | undefined;
}

const hostedToolKeys: KnownKeys<HostedToolOptions<object, unknown>> = {
  config: true,
  description: true,
  handleProviderOutput: true,
  kind: true,
  live: true,
  name: true,
  provider: true,
};

/**
 * A capability that the provider runs on its own machines. An adapter's codec knows its wire form.
 *
 * `Output` is the type that the codec parses. It cannot be inferred from the options, so a factory
 * declares it in its return type, and `response.hostedOutputs.get(tool)` returns that type.
 *
 * @example
 * ```ts
 * import { HostedTool, MarkdownSection } from "weakincentives";
 *
 * const rates = new HostedTool({
 *   kind: "exchange_rates",
 *   name: "rates",
 *   description: "Looks up exchange rates.",
 *   config: { base: "EUR" },
 * });
 * const section = new MarkdownSection({
 *   key: "task",
 *   title: "Task",
 *   template: "Convert 80 euros to dollars.",
 *   hostedTools: [rates],
 * });
 * ```
 */
export class HostedTool<
  Config extends object = object,
  Output = unknown,
  Live extends object = object,
> {
  /** Carries the output type only; never set at run time. */
  declare readonly "~output": Output;
  /** Provider-neutral name of the capability, such as `"web_search"`. */
  readonly kind: string;
  /** Unique within a prompt, and the key of its entry in `hostedOutputs`. */
  readonly name: string;
  /** Short description of the tool. */
  readonly description: string;
  /** Deep-frozen settings. */
  readonly config: Config;
  /** Executors, file systems and callbacks passed as `live`. */
  readonly live: Partial<Live>;
  /** Name of the only adapter that may use the tool, or `null` for any. */
  readonly provider: string | null;
  /** Receives the output that the codec parsed, and may replace it; `null` if there is none. */
  readonly handleProviderOutput: ToolHandler<Output, Output> | null;

  constructor(options: HostedToolOptions<Config, Output, Live>) {
    checkKnownKeys(
      checkOptions(options, "HostedTool"),
      new.target.name,
      hostedToolKeys,
      PromptValidationError,
    );
    this.name = checkHostedName(options.name, "HostedTool.name");
    const field = (name: string) => `HostedTool "${this.name}" ${name}`;
    this.kind = checkHostedName(options.kind, field("kind"));
    this.description = checkHostedDescription(options.description, field("description"));
    this.config = copyAndFreeze(checkConfig(options.config, field("config")));
    this.live = Object.freeze({ ...options.live });
    this.provider =
      options.provider === undefined ? null : checkHostedName(options.provider, field("provider"));
    this.handleProviderOutput =
      checkFunction(options.handleProviderOutput, field("handleProviderOutput")) ?? null;
    if (new.target === HostedTool) Object.freeze(this);
  }
}

/**
 * Creates the hosted tool of a native or provider tool from fields that are already checked. Unlike
 * the constructor, it accepts the name and description of any `Tool`.
 */
export function createHostedTool(
  fields: Pick<
    HostedTool,
    "kind" | "name" | "description" | "config" | "provider" | "handleProviderOutput"
  >,
): HostedTool {
  const tool: HostedTool = Object.create(HostedTool.prototype);
  return Object.freeze(Object.assign(tool, fields, { live: Object.freeze({}) }));
}

/** Returns `config` if it is a plain object. */
export function checkConfig<Config extends object>(config: Config, field: string): Config {
  if (isPlainObject(config)) return config;
  const rule = "must be a plain object";
  throw new PromptValidationError({
    field,
    value: config,
    rule,
    remedy: "use { … }, or {} for the defaults",
  });
}

const checkedTools = new WeakSet<object>();

/** Marks a tool whose config its factory has checked. */
export function markChecked<Made extends object>(tool: Made): Made {
  checkedTools.add(tool);
  return tool;
}

/**
 * Checks a tool's config with the tool's factory, and returns the tool that the factory creates. A
 * tool that the factory itself created is returned unchecked; one created with `new HostedTool`
 * still needs the check.
 */
export function checkWithFactory<Made extends { readonly name: string }>(
  tool: { readonly name: string },
  make: () => Made,
): Made {
  if (checkedTools.has(tool)) return tool as Made;
  const options = `Hosted tool "${tool.name}" `;
  return renameConfigError({ config: `${options}config`, options }, make);
}

/**
 * Rejects two tools of the same kind, because calls and outputs do not name their tool. `labelOf`
 * returns a label if the provider distinguishes tools of the same kind.
 */
export function checkOneToolPerKind(
  tools: readonly HostedTool[],
  promptName: string,
  getLabel: (tool: HostedTool) => string | null | undefined = () => null,
): void {
  const first = new Map<string, HostedTool>();
  for (const tool of tools) {
    const key = JSON.stringify([tool.kind, getLabel(tool) ?? null]);
    const other = first.get(key);
    first.set(key, tool);
    if (!other) continue;
    const both = quoteNames([other.name, tool.name]);
    const message = `Hosted tools ${both} are both of kind "${tool.kind}", so their outputs would be ambiguous. Keep one.`;
    throw new PromptEvaluationError(message, { promptName, phase: "render" });
  }
}

import { checkHostedName, checkOptions } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { checkFunction } from "./config-checks.ts";
import { checkConfig } from "./hosted-tool.ts";
import { Tool, type ToolOptions } from "./tool.ts";
import type { ToolHandler } from "./tool-context.ts";

/** Options of {@link ProviderTool}. */
export interface ProviderToolOptions<Params, Result, Config extends object>
  extends Omit<
    ToolOptions<Params, Result>,
    "effects" | "handler" | "needsApproval" | "parallel" | "reconcile"
  > {
  /** Name of the adapter that the tool belongs to, such as `"openai"`. */
  readonly provider: string;
  /** Provider-neutral name of the capability, such as `"web_search"`. */
  readonly kind: string;
  /** Settings as plain data; copied and deep-frozen. */
  readonly config: Config;
  /** Processes the provider's output, available as `context.providerOutput`. */
  readonly handler?: ToolHandler<Params, NoInfer<Result>> | null | undefined;
  /** Converts the provider's output to a result. If omitted, `handler` does it. */
  readonly handleProviderOutput?: ToolHandler<NoInfer<Result>, NoInfer<Result>> | null | undefined;
}

const providerToolKeys: KnownKeys<ProviderToolOptions<unknown, unknown, object>> = {
  acceptsOverrides: true,
  config: true,
  description: true,
  examples: true,
  handleProviderOutput: true,
  handler: true,
  kind: true,
  name: true,
  params: true,
  policies: true,
  provider: true,
  render: true,
  result: true,
};

/** A tool that one provider runs. `handler`, if any, processes the provider's output. */
export class ProviderTool<
  Params = unknown,
  Result = unknown,
  Config extends object = object,
> extends Tool<Params, Result> {
  /** Name of the adapter that the tool belongs to. */
  readonly provider: string;
  /** Provider-neutral name of the capability. */
  readonly kind: string;
  /** Deep-frozen settings. */
  readonly config: Config;
  /** Converts the provider's output to a result; `null` if `handler` does it. */
  readonly handleProviderOutput: ToolHandler<Result, Result> | null;

  constructor(options: ProviderToolOptions<Params, Result, Config>) {
    const owner = new.target.name;
    checkKnownKeys(
      checkOptions(options, "ProviderTool"),
      owner,
      providerToolKeys,
      PromptValidationError,
    );
    const { provider, kind, config, handleProviderOutput, ...rest } = options;
    super({ ...rest, handler: rest.handler ?? null });
    const field = (name: string) => `ProviderTool "${this.name}" ${name}`;
    this.provider = checkHostedName(provider, field("provider"));
    this.kind = checkHostedName(kind, field("kind"));
    this.config = copyAndFreeze(checkConfig(config, field("config")));
    this.handleProviderOutput =
      checkFunction(handleProviderOutput, field("handleProviderOutput")) ?? null;
    if (new.target === ProviderTool) Object.freeze(this);
  }
}

import { frozenCopy } from "../base/freeze.ts";
import { checkOptions, checkToolName } from "../base/names.ts";
import { checkFunction } from "./config-checks.ts";
import { checkConfig } from "./hosted-tool.ts";
import { Tool, type ToolOptions } from "./tool.ts";
import type { ToolHandler } from "./tool-context.ts";

/** What a `ProviderTool` is made from. */
export interface ProviderToolOptions<Params, Result, Config extends object>
  extends Omit<ToolOptions<Params, Result>, "handler" | "parallel"> {
  /** The adapter it belongs to: `"openai"`. */
  readonly provider: string;
  /** The capability: `"web_search"`. */
  readonly kind: string;
  readonly config: Config;
  /** Works on what the provider did: it finds it as `context.providerOutput`. */
  readonly handler?: ToolHandler<Params, NoInfer<Result>> | null | undefined;
  /** Turns what the provider gave back into a result. Without it, the handler does. */
  readonly handleProviderOutput?: ToolHandler<NoInfer<Result>, NoInfer<Result>> | null | undefined;
}

/** A tool one provider runs. `handler`, if any, works on what the provider did. */
export class ProviderTool<
  Params = unknown,
  Result = unknown,
  Config extends object = object,
> extends Tool<Params, Result> {
  readonly provider: string;
  readonly kind: string;
  readonly config: Config;
  readonly handleProviderOutput: ToolHandler<Result, Result> | null;

  constructor(options: ProviderToolOptions<Params, Result, Config>) {
    super({ ...checkOptions(options, "ProviderTool"), handler: options.handler ?? null });
    const field = (name: string) => `ProviderTool "${this.name}" ${name}`;
    this.provider = checkToolName(options.provider, field("provider"));
    this.kind = checkToolName(options.kind, field("kind"));
    this.config = frozenCopy(checkConfig(options.config, field("config")));
    this.handleProviderOutput =
      checkFunction(options.handleProviderOutput, field("handleProviderOutput")) ?? null;
    if (new.target === ProviderTool) Object.freeze(this);
  }
}

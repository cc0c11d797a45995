import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import { checkOptions, checkToolName } from "../base/names.ts";
import { checkSchema, type Schema } from "../base/schema/schema.ts";
import { checkConfig } from "./hosted-tool.ts";
import { Tool } from "./tool.ts";
import type { ToolExample } from "./tool-example.ts";

/** What a `NativeTool` is made from. */
export interface NativeToolOptions<Params, Result> {
  readonly name: string;
  readonly description: string;
  /** What the provider's call holds. */
  readonly params: Schema<Params>;
  /** What the provider gives back. */
  readonly result: Schema<Result>;
  readonly examples?: readonly ToolExample<NoInfer<Params>, NoInfer<Result>>[] | undefined;
  /** @default false */
  readonly acceptsOverrides?: boolean | undefined;
  /** The capability. @default the name */
  readonly kind?: string | undefined;
  readonly config?: object | undefined;
}

/** A tool whose schemas we know and whose work the provider does. It never has a handler. */
export class NativeTool<Params = unknown, Result = unknown> extends Tool<Params, Result> {
  readonly kind: string;
  readonly config: object;

  constructor(options: NativeToolOptions<Params, Result>) {
    refuseHandler(checkOptions(options, "NativeTool"));
    const { acceptsOverrides = false, kind = options.name, config = {} } = options;
    requireSchemas(options);
    super({ ...options, acceptsOverrides, handler: null });
    checkSchema(options.result, `NativeTool "${this.name}" result`, ["object"]);
    this.kind = checkToolName(kind, `NativeTool "${this.name}" kind`);
    this.config = frozenCopy(checkConfig(config, `NativeTool "${this.name}" config`));
    if (new.target === NativeTool) Object.freeze(this);
  }
}

function refuseHandler(options: object): void {
  if (!("handler" in options) || options.handler === null || options.handler === undefined) return;
  throw new PromptValidationError({
    field: "NativeTool.handler",
    value: options.handler,
    rule: "must be left out",
    remedy: "the provider runs a native tool; use ProviderTool to look at what it did",
  });
}

function requireSchemas({ name, params, result }: NativeToolOptions<unknown, unknown>): void {
  for (const [part, schema] of Object.entries({ params, result })) {
    if (schema) continue;
    const field = `NativeTool "${name}" ${part}`;
    const remedy = "describe what the provider's call holds and gives back";
    throw new PromptValidationError({ field, value: schema, rule: "must be a schema", remedy });
  }
}

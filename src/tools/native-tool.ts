import { checkOptions, checkToolName } from "../base/check-names.ts";
import { PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { checkSchema, type Schema } from "../base/schema/schema.ts";
import { checkConfig } from "./hosted-tool.ts";
import { Tool, type ToolRenderer } from "./tool.ts";
import type { ToolExample } from "./tool-example.ts";

/** Options of {@link NativeTool}. */
export interface NativeToolOptions<Params, Result> {
  /** Unique within a prompt. Matches `^[a-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** 1-200 ASCII characters. */
  readonly description: string;
  /** Schema of the provider's call: an object at its root. */
  readonly params: Schema<Params>;
  /**
   * Schema of the provider's output: an object at its root. It describes the parsed output, the
   * provider's item, or `{ payload }` with the item. In `hostedOutputs`, an item of several calls
   * is the last one, with all of them as `calls`.
   */
  readonly result: Schema<Result>;
  /** Converts a result's value to the text in `ToolInvoked`. @default JSON */
  readonly render?: ToolRenderer<NoInfer<Result>> | undefined;
  /** Example calls that the model is shown. Each must match the schemas. */
  readonly examples?: readonly ToolExample<NoInfer<Params>, NoInfer<Result>>[] | undefined;
  /** Whether overrides may change the description. @default false */
  readonly acceptsOverrides?: boolean | undefined;
  /** Provider-neutral name of the capability. @default `name` */
  readonly kind?: string | undefined;
  /** Settings as plain data; copied and deep-frozen. @default {} */
  readonly config?: object | undefined;
}

/** A tool that the provider runs, declared by its schemas. It never has a handler. */
export class NativeTool<Params = unknown, Result = unknown> extends Tool<Params, Result> {
  /** Provider-neutral name of the capability. */
  readonly kind: string;
  /** Deep-frozen settings. */
  readonly config: object;

  constructor(options: NativeToolOptions<Params, Result>) {
    rejectHandler(checkOptions(options, "NativeTool"));
    const { acceptsOverrides = false, kind = options.name, config = {} } = options;
    requireSchemas(options);
    super({ ...options, acceptsOverrides, handler: null });
    checkSchema(options.result, `NativeTool "${this.name}" result`, ["object"]);
    this.kind = checkToolName(kind, `NativeTool "${this.name}" kind`);
    this.config = copyAndFreeze(checkConfig(config, `NativeTool "${this.name}" config`));
    if (new.target === NativeTool) Object.freeze(this);
  }
}

function rejectHandler(options: object): void {
  if (!("handler" in options) || options.handler === null || options.handler === undefined) return;
  throw new PromptValidationError({
    field: "NativeTool.handler",
    value: options.handler,
    rule: "must be omitted",
    remedy:
      "remove it, because the provider runs a native tool; use ProviderTool to process its output",
  });
}

function requireSchemas({ name, params, result }: NativeToolOptions<unknown, unknown>): void {
  for (const [part, schema] of Object.entries({ params, result })) {
    if (schema) continue;
    const field = `NativeTool "${name}" ${part}`;
    const remedy = "pass the schemas of the provider's call and output";
    throw new PromptValidationError({ field, value: schema, rule: "must be a schema", remedy });
  }
}

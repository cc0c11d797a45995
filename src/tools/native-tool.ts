import { checkHostedName, checkOptions } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { checkSchema, type Schema } from "../base/schema/schema.ts";
import { checkConfig } from "./hosted-tool.ts";
import { Tool, type ToolRenderer } from "./tool.ts";
import type { ToolExample } from "./tool-example.ts";

/** Options of {@link NativeTool}. */
export interface NativeToolOptions<Params, Result> {
  /** Unique within a prompt. Matches `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** Text of 1-4,096 characters, on one line or several. */
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
  /** Provider-neutral name of the capability. Matches `^[a-z0-9_-]{1,64}$`. @default `name` */
  readonly kind?: string | undefined;
  /** Settings as plain data; copied and deep-frozen. @default {} */
  readonly config?: object | undefined;
}

/** `handler: null` is accepted, because `Tool` requires a handler or `null`. */
const nativeToolKeys: KnownKeys<NativeToolOptions<unknown, unknown> & { readonly handler: null }> =
  {
    acceptsOverrides: true,
    config: true,
    description: true,
    examples: true,
    handler: true,
    kind: true,
    name: true,
    params: true,
    render: true,
    result: true,
  };

/** A tool that the provider runs, declared by its schemas. It never has a handler. */
export class NativeTool<Params = unknown, Result = unknown> extends Tool<Params, Result> {
  /** Provider-neutral name of the capability. */
  readonly kind: string;
  /** Deep-frozen settings. */
  readonly config: object;

  constructor(options: NativeToolOptions<Params, Result>) {
    rejectHandler(checkOptions(options, "NativeTool"));
    checkKnownKeys(options, new.target.name, nativeToolKeys, PromptValidationError);
    const { kind, config = {}, ...rest } = options;
    requireSchemas(options);
    super({ ...rest, acceptsOverrides: rest.acceptsOverrides ?? false, handler: null });
    checkSchema(options.result, `NativeTool "${this.name}" result`, ["object"]);
    this.kind = checkKind(kind, this.name);
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

/** Returns the kind, which defaults to the name. Unlike a kind, a name may have upper case. */
function checkKind(kind: string | undefined, name: string): string {
  const field = `NativeTool "${name}" kind`;
  if (kind !== undefined || !/[A-Z]/.test(name)) return checkHostedName(kind ?? name, field);
  throw new PromptValidationError({
    field,
    value: name,
    rule: "must be 1-64 of a-z, 0-9, _ and -",
    remedy: 'set kind, such as kind: "web_search"',
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

import { PromptValidationError } from "../base/errors.ts";
import { deepFreeze, frozenCopy } from "../base/freeze.ts";
import { checkDescription, checkOptions, checkToolName } from "../base/names.ts";
import { checkSchema, fieldsOf, type JsonSchema, type Schema } from "../base/schema/schema.ts";
import { checkFunction } from "./config-checks.ts";
import { checkPolicies, type ToolPolicy } from "./policy.ts";
import type { ToolHandler } from "./tool-context.ts";
import { checkExamples, type ToolExample } from "./tool-example.ts";

/** What a `Tool` is made from. */
export interface ToolOptions<Params, Result> {
  /** Matches `^[a-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** 1-200 ASCII characters: what the model reads to decide. */
  readonly description: string;
  /** An object at its root; `null` if the tool takes nothing. */
  readonly params: Schema<Params> | null;
  /** What the handler is held to. Without it, a handler may give back anything. */
  readonly result?: Schema<Result> | null | undefined;
  /** Runs here. `null` only for tools that a provider runs. */
  readonly handler: ToolHandler<Params, NoInfer<Result>> | null;
  /** What the model reads of a result's value. @default JSON */
  readonly render?: ToolRenderer<NoInfer<Result>> | undefined;
  readonly examples?: readonly ToolExample<NoInfer<Params>, NoInfer<Result>>[] | undefined;
  /** @default true */
  readonly acceptsOverrides?: boolean | undefined;
  /** Asked before the handler runs; those of the section and the template follow. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** May run beside other parallel calls of the same turn, outside a transaction. @default false */
  readonly parallel?: boolean | undefined;
}

// Taken from a method, because methods are bivariant: any Tool<P, R> is then a Tool.

/** Turns a result's value into what the model reads. */
export type ToolRenderer<Result> = { render(value: Result): string }["render"];

/** A tool the model may call by name; its handler runs here. */
export class Tool<Params = unknown, Result = unknown> {
  readonly name: string;
  readonly description: string;
  readonly params: Schema<Params> | null;
  /** `params` as the model is told of them. */
  readonly paramsSchema: JsonSchema;
  readonly result: Schema<Result> | null;
  /** `result` as JSON Schema. */
  readonly resultSchema: JsonSchema | null;
  readonly handler: ToolHandler<Params, Result> | null;
  /** `null`: JSON. */
  readonly render: ToolRenderer<Result> | null;
  readonly examples: readonly ToolExample<Params, Result>[];
  readonly acceptsOverrides: boolean;
  readonly policies: readonly ToolPolicy[];
  readonly parallel: boolean;

  constructor(options: ToolOptions<Params, Result>) {
    const kind = new.target.name;
    this.name = checkToolName(checkOptions(options, kind).name, `${kind}.name`);
    const field = (name: string) => `${kind} "${this.name}" ${name}`;
    this.description = checkDescription(options.description, field("description"));
    this.params = options.params;
    this.paramsSchema = describeParams(options.params, field("params"));
    this.result = options.result ?? null;
    this.resultSchema =
      this.result === null ? null : checkSchema(this.result, field("result"), ["any"]);
    this.handler = checkFunction(options.handler, field("handler")) ?? null;
    this.render = checkFunction(options.render, field("render")) ?? null;
    this.examples = frozenCopy(options.examples ?? []);
    checkExamples(this, field("examples"));
    this.acceptsOverrides = options.acceptsOverrides ?? true;
    this.policies = checkPolicies(options.policies, field("policies"));
    this.parallel = options.parallel ?? false;
    if (new.target === Tool) Object.freeze(this);
  }

  /**
   * The same tool in other words, for it and for some of its params. A subclass with `#private`
   * fields overrides it: they are not copied.
   */
  described(description: string, params: Readonly<Record<string, string>> = {}): this {
    const told: unknown = Object.create(Object.getPrototypeOf(this));
    const paramsSchema = withDescriptions(this.paramsSchema, params);
    return Object.freeze(Object.assign(told as this, this, { description, paramsSchema }));
  }
}

function withDescriptions(
  schema: JsonSchema,
  descriptions: Readonly<Record<string, string>>,
): JsonSchema {
  const fields = [...fieldsOf(schema)].map(([name, field]) =>
    Object.hasOwn(descriptions, name)
      ? [name, { ...field, description: descriptions[name] }]
      : [name, field],
  );
  return deepFreeze({ ...schema, properties: Object.fromEntries(fields) });
}

const takesNothing: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  required: Object.freeze([]),
  additionalProperties: false,
});

function describeParams(params: Schema | null, field: string): JsonSchema {
  if (params === null) return takesNothing;
  if (params !== undefined) return checkSchema(params, field, ["object"]);
  const rule = "must be a schema or null";
  throw new PromptValidationError({
    field,
    value: params,
    rule,
    remedy: "write params: null for a tool that takes nothing",
  });
}

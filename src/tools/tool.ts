import { checkDescription, checkOptions, checkToolName } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze, deepFreeze } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import { checkSchema, type JsonSchema, listFields, type Schema } from "../base/schema/schema.ts";
import { checkFunction } from "./config-checks.ts";
import { checkPolicies, type ToolPolicy } from "./policy.ts";
import type { NeedsApproval, ToolEffects, ToolHandler, ToolReconciler } from "./tool-context.ts";
import { checkExamples, type ToolExample } from "./tool-example.ts";

/** Options of {@link Tool}. */
export interface ToolOptions<Params, Result> {
  /** Unique within a prompt, by exact spelling. Matches `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /**
   * Tells the model what the tool does and when to use it: text of 1-4,096 characters, on one line
   * or several.
   */
  readonly description: string;
  /** Schema of the params: an object at its root, or `null` if the tool takes none. */
  readonly params: Schema<Params> | null;
  /**
   * Schema of the result's value: the type that the handler must return, and the form of the examples.
   * Only outputs of a provider are validated at run time. If omitted, the handler may return any value.
   */
  readonly result?: Schema<Result> | null | undefined;
  /** Runs locally. `null` only for tools that a provider runs. */
  readonly handler: ToolHandler<Params, NoInfer<Result>> | null;
  /** Converts a result's value to the text that the model reads. @default JSON */
  readonly render?: ToolRenderer<NoInfer<Result>> | undefined;
  /** Example calls that the model is shown. Each must match the schemas. */
  readonly examples?: readonly ToolExample<NoInfer<Params>, NoInfer<Result>>[] | undefined;
  /** Whether overrides may change the descriptions. @default true */
  readonly acceptsOverrides?: boolean | undefined;
  /** Checked before the handler runs, before the policies of the section and the template. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /**
   * Whether the call may run concurrently with other parallel calls in the same turn, outside a
   * transaction. @default false
   */
  readonly parallel?: boolean | undefined;
  /**
   * Whether a call that a crash interrupted may run again when the evaluation is resumed: `"none"` and
   * `"idempotent"` may, `"once"` may not. @default "once"
   */
  readonly effects?: ToolEffects | undefined;
  /**
   * Finds the outcome of a `"once"` tool's interrupted call, instead of reporting it to the model as
   * unknown. Must be omitted with other `effects`: those calls run again.
   */
  readonly reconcile?: ToolReconciler<Params, NoInfer<Result>> | undefined;
  /**
   * Whether a call waits for approval: `approve` of `evaluate` decides, and without it the call is denied. A
   * function decides for each call, after the policies. @default false
   */
  readonly needsApproval?: NeedsApproval<Params> | undefined;
}

const toolKeys: KnownKeys<ToolOptions<unknown, unknown>> = {
  acceptsOverrides: true,
  description: true,
  effects: true,
  examples: true,
  handler: true,
  name: true,
  needsApproval: true,
  parallel: true,
  params: true,
  policies: true,
  reconcile: true,
  render: true,
  result: true,
};

// Taken from a method, because methods are bivariant: this makes any Tool<P, R> assignable to Tool.

/** Converts a result's value to the text that the model reads. */
export type ToolRenderer<Result> = { render(value: Result): string }["render"];

/**
 * A tool that the model calls by name. Its handler runs locally.
 *
 * @example
 * ```ts
 * import { Tool, ToolResult } from "weakincentives";
 * import * as z from "zod";
 *
 * const readSales = new Tool({
 *   name: "read_sales",
 *   description: "Reads the sales of one month.",
 *   params: z.object({ month: z.string() }),
 *   handler: ({ month }) =>
 *     month === "May" ? ToolResult.ok({ total: 12 }) : ToolResult.error(`No sales for ${month}.`),
 * });
 * ```
 */
export class Tool<Params = unknown, Result = unknown> {
  /** Unique within a prompt. */
  readonly name: string;
  /** Text that tells the model when to use the tool. */
  readonly description: string;
  /** Schema of the params, or `null` if the tool takes none. */
  readonly params: Schema<Params> | null;
  /** `params` as the JSON Schema sent to the model. */
  readonly paramsSchema: JsonSchema;
  /** Schema of the result's value, or `null` if any value is allowed. */
  readonly result: Schema<Result> | null;
  /** `result` as JSON Schema. */
  readonly resultSchema: JsonSchema | null;
  /** Runs the call locally; `null` if a provider runs the tool. */
  readonly handler: ToolHandler<Params, Result> | null;
  /** Converts a result's value to text for the model; `null` for JSON. */
  readonly render: ToolRenderer<Result> | null;
  /** Example calls that the model is shown. */
  readonly examples: readonly ToolExample<Params, Result>[];
  /** Whether overrides may change the descriptions. */
  readonly acceptsOverrides: boolean;
  /** Checked before the handler runs. */
  readonly policies: readonly ToolPolicy[];
  /** Whether the call may run concurrently with other parallel calls in the same turn. */
  readonly parallel: boolean;
  /** Whether an interrupted call may run again. */
  readonly effects: ToolEffects;
  /** Finds the outcome of an interrupted call; `null` if nothing does. */
  readonly reconcile: ToolReconciler<Params, Result> | null;
  /** Whether a call waits for approval. */
  readonly needsApproval: NeedsApproval<Params>;

  constructor(options: ToolOptions<Params, Result>) {
    const kind = new.target.name;
    checkKnownKeys(checkOptions(options, kind), kind, toolKeys, PromptValidationError);
    this.name = checkToolName(options.name, `${kind}.name`);
    const field = (name: string) => `${kind} "${this.name}" ${name}`;
    this.description = checkDescription(options.description, field("description"));
    this.params = options.params;
    this.paramsSchema = toParamsSchema(options.params, field("params"));
    this.result = options.result ?? null;
    this.resultSchema =
      this.result === null ? null : checkSchema(this.result, field("result"), ["any"]);
    this.handler = checkFunction(options.handler, field("handler")) ?? null;
    this.render = checkFunction(options.render, field("render")) ?? null;
    this.examples = copyAndFreeze(options.examples ?? []);
    checkExamples(this, field("examples"));
    this.acceptsOverrides = options.acceptsOverrides ?? true;
    this.policies = checkPolicies(options.policies, field("policies"));
    this.parallel = options.parallel ?? false;
    this.effects = checkEffects(options.effects, field("effects"));
    this.reconcile = checkReconcile(options.reconcile, this.effects, field("reconcile"));
    this.needsApproval = checkNeedsApproval(options.needsApproval, field("needsApproval"));
    if (new.target === Tool) Object.freeze(this);
  }

  /**
   * Returns a copy of the tool with another description, and other descriptions for some of its
   * params. A subclass with `#private` fields must override this method, because they are not
   * copied.
   */
  withDescription(description: string, params: Readonly<Record<string, string>> = {}): this {
    const copy: unknown = Object.create(Object.getPrototypeOf(this));
    const paramsSchema = addDescriptions(this.paramsSchema, params);
    return Object.freeze(Object.assign(copy as this, this, { description, paramsSchema }));
  }
}

/** Checks an `effects` option. Returns `"once"` if it is omitted. */
export function checkEffects(effects: ToolEffects | undefined, field: string): ToolEffects {
  if (effects === undefined) return "once";
  if (EFFECTS.includes(effects)) return effects;
  const rule = `must be one of ${quoteNames(EFFECTS)}`;
  throw new PromptValidationError({ field, value: effects, rule, remedy: 'omit it for "once"' });
}

function checkReconcile<Reconciler extends (...args: never) => unknown>(
  reconcile: Reconciler | undefined,
  effects: ToolEffects,
  field: string,
): Reconciler | null {
  const checked = checkFunction(reconcile, field) ?? null;
  if (checked === null || effects === "once") return checked;
  throw new PromptValidationError({
    field,
    value: reconcile,
    rule: `must be omitted with effects: "${effects}", because interrupted calls run again`,
    remedy: 'omit it, or use effects: "once"',
  });
}

/** Checks a `needsApproval` option. Returns `false` if it is omitted. */
export function checkNeedsApproval<Params>(
  needsApproval: NeedsApproval<Params> | undefined,
  field: string,
): NeedsApproval<Params> {
  const type = typeof needsApproval;
  if (type === "undefined" || type === "boolean" || type === "function")
    return needsApproval ?? false;
  throw new PromptValidationError({
    field,
    value: needsApproval,
    rule: "must be true, false or a function",
    remedy: "omit it if calls need no approval",
  });
}

const EFFECTS: readonly ToolEffects[] = ["none", "idempotent", "once"];

function addDescriptions(
  schema: JsonSchema,
  descriptions: Readonly<Record<string, string>>,
): JsonSchema {
  const fields = [...listFields(schema)].map(([name, field]) =>
    Object.hasOwn(descriptions, name)
      ? [name, { ...field, description: descriptions[name] }]
      : [name, field],
  );
  return deepFreeze({ ...schema, properties: Object.fromEntries(fields) });
}

const emptyParamsSchema: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  required: Object.freeze([]),
  additionalProperties: false,
});

function toParamsSchema(params: Schema | null, field: string): JsonSchema {
  if (params === null) return emptyParamsSchema;
  if (params !== undefined) return checkSchema(params, field, ["object"]);
  const rule = "must be a schema or null";
  throw new PromptValidationError({
    field,
    value: params,
    rule,
    remedy: "use params: null for a tool that takes none",
  });
}

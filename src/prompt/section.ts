import { PromptValidationError, WinkError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { checkKey, checkLine } from "../base/names.ts";
import { suggestion } from "../base/nearest.ts";
import { checkSchema, fieldsOf, type JsonSchema, type Schema } from "../base/schema/schema.ts";
import { list } from "../base/show.ts";
import type { Session } from "../session/session.ts";
import { checkFunction } from "../tools/config-checks.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { checkPolicies, type ToolPolicy } from "../tools/policy.ts";
import { Tool } from "../tools/tool.ts";
import {
  checkPlaceholders,
  fillTemplate,
  readTemplate,
  type TemplateText,
} from "./template-text.ts";
import type { Visibility } from "./visibility.ts";

/** What every section is made from. */
export interface SectionOptions<Params = never> {
  /** Unique among its siblings. Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  readonly title: string;
  readonly params?: Schema | undefined;
  /** Used where nothing is bound. */
  readonly defaultParams?: object | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly hostedTools?: readonly HostedTool[] | undefined;
  readonly children?: readonly Section[] | undefined;
  /** `false` leaves out the section, its children and their tools. @default always */
  readonly enabled?: Enabled<Params> | undefined;
  /** Stands for the section, its children and their tools where those are not shown. */
  readonly summary?: string | undefined;
  /** What is shown until the session says otherwise. @default "full" */
  readonly visibility?: Visibility | VisibilitySelector<Params> | undefined;
  /** Asked before each call of the section's tools. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** @default true */
  readonly acceptsOverrides?: boolean | undefined;
}

/** Taken from a method, because methods are bivariant: only `Needs` tells sections apart. */
type Enabled<Params> = {
  test(params: Params, context: { readonly session: Session }): boolean;
}["test"];

type VisibilitySelector<Params> = {
  select(params: Params, context: { readonly session: Session }): Visibility;
}["select"];

/**
 * One heading of a prompt: its text, and the tools that come with that text.
 *
 * `Params` is what `render` gets; `Needs` is what must be bound for that, which is less where
 * fields have a default and more where children have params. `Section` alone is any section.
 * A subclass with type parameters marks them `in out`: lists of it then keep what each one needs.
 */
export abstract class Section<Params = never, Needs = Params> {
  /** Carries the type of what must be bound; never set. A function, so that any fits `Section`. */
  declare readonly "~needs": (params: Needs) => void;
  readonly key: string;
  readonly title: string;
  readonly params: Schema | null;
  /** `params` as JSON Schema. */
  readonly paramsSchema: JsonSchema | null;
  readonly defaultParams: object;
  readonly children: readonly Section[];
  /** As it was written; `null` if the section has none. */
  readonly summary: string | null;
  readonly policies: readonly ToolPolicy[];
  readonly acceptsOverrides: boolean;
  readonly #summaryText: TemplateText | null;
  readonly #visibility: Visibility | VisibilitySelector<Params>;
  readonly #tools: readonly Tool[];
  readonly #hostedTools: readonly HostedTool[];
  readonly #enabled: Enabled<Params>;

  constructor(options: SectionOptions<Params>) {
    this.key = checkKey(options?.key, `${new.target.name}.key`);
    const field = (name: string) => `Section "${this.key}" ${name}`;
    this.title = checkLine(options.title, field("title")).trim();
    this.params = options.params ?? null;
    this.paramsSchema = this.params && checkSchema(this.params, field("params"), ["object"]);
    this.defaultParams = frozenCopy(options.defaultParams ?? {});
    checkDefaults(this.defaultParams, this.paramsSchema, field("defaultParams"));
    this.children = checkList(options.children, Section, field("children"));
    this.#tools = checkList(options.tools, Tool, field("tools"));
    this.#hostedTools = checkList(options.hostedTools, HostedTool, field("hostedTools"));
    this.#enabled = checkFunction(options.enabled, field("enabled")) ?? (() => true);
    this.summary = options.summary ?? null;
    this.#summaryText = this.#readSummary(field("summary"));
    this.#visibility = checkVisibility(
      options.visibility ?? "full",
      this.summary,
      field("visibility"),
    );
    this.policies = checkPolicies(options.policies, field("policies"));
    this.acceptsOverrides = options.acceptsOverrides ?? true;
  }

  /**
   * The markdown below the heading. Pure: the same params give the same text. One that says
   * nothing, and has no children, leaves its heading out too.
   */
  abstract render(params: Params, depth: number, number: string): string;

  /** The adapter that alone can run it; `null` if any can. */
  get provider(): string | null {
    return null;
  }

  isEnabled(params: Params, session: Session): boolean {
    return this.#enabled(params, { session });
  }

  /** How it is to be shown: as `said`, if the session says, else as its own options do. */
  effectiveVisibility(params: Params, session: Session, said: Visibility | null): Visibility {
    if (said !== null) return said;
    const own = this.#visibility;
    return typeof own === "function" ? own(params, { session }) : own;
  }

  /** What stands for it where it is not shown in full. */
  renderSummary(params: Params): string {
    return this.#summaryText ? fillTemplate(this.#summaryText, Object(params)) : "";
  }

  /** The text that an override may stand in for; `null` if there is none. */
  overridableText(): string | null {
    return null;
  }

  /** What the model may call for this section. Override to add to it. */
  tools(): readonly Tool[] {
    return this.#tools;
  }

  /** What the provider runs for this section. Override to add to it. */
  hostedTools(): readonly HostedTool[] {
    return this.#hostedTools;
  }

  /** A section like this one, with other options where given. A subclass says how it is made. */
  clone(_options?: object): this {
    const name = this.constructor.name;
    throw new WinkError(`${name} cannot be cloned: override clone() to say how a ${name} is made`);
  }

  /** Gives up what the section holds outside this process. May be called more than once. */
  async cleanup(): Promise<unknown> {
    return undefined;
  }

  #readSummary(field: string): TemplateText | null {
    if (this.summary === null) return null;
    const text = readTemplate(this.summary, field);
    checkPlaceholders(
      text,
      new Set(this.paramsSchema && fieldsOf(this.paramsSchema).keys()),
      field,
    );
    return text;
  }
}

function checkVisibility<Selector>(
  visibility: Visibility | Selector,
  summary: string | null,
  field: string,
): Visibility | Selector {
  const isSelector = typeof visibility === "function";
  const needsSummary = isSelector || visibility === "summary";
  if (needsSummary && summary === null) {
    const remedy = "give the section a summary, or show it in full";
    throw new PromptValidationError({
      field,
      value: visibility,
      rule: "must have a summary",
      remedy,
    });
  }
  if (isSelector || visibility === "full" || visibility === "summary") return visibility;
  throw new PromptValidationError({
    field,
    value: visibility,
    rule: 'must be "full", "summary" or a function that chooses',
    remedy: "leave it out for full",
  });
}

function checkList<Item>(
  items: readonly Item[] | undefined,
  type: abstract new (...args: never) => Item,
  field: string,
): readonly Item[] {
  if (items === undefined) return Object.freeze([]);
  const all = Array.isArray(items) ? [...items] : [items];
  const wrong = all.findIndex((item) => !(item instanceof type));
  if (wrong < 0 && Array.isArray(items)) return Object.freeze(all);
  const place = Array.isArray(items) ? `${field}[${wrong}]` : field;
  const rule = Array.isArray(items) ? `must be a ${type.name}` : `must be a list of ${type.name}s`;
  const remedy = `make it with new ${type.name}(…) or a factory`;
  throw new PromptValidationError({ field: place, value: all[Math.max(wrong, 0)], rule, remedy });
}

function checkDefaults(defaults: object, schema: JsonSchema | null, field: string): void {
  if (!isPlainObject(defaults)) {
    const remedy = "write { … } with a field for each default";
    throw new PromptValidationError({
      field,
      value: defaults,
      rule: "must be a plain object",
      remedy,
    });
  }
  if (schema?.["additionalProperties"]) return; // a record, or an object open to more
  const names = Object.keys(defaults);
  const known = schema ? fieldsOf(schema) : new Map<string, JsonSchema>();
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const near = suggestion(unknown, known.keys());
  throw new PromptValidationError({
    field: `${field}.${unknown}`,
    value: unknown,
    rule: "must be a field of the section's params",
    remedy: near
      ? `did you mean "${near}"?`
      : `there are ${list(known.keys()) || "none: give params"}`,
  });
}

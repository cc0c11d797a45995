import { checkKey, checkLine } from "../base/check-names.ts";
import {
  checkKnownKeys,
  type KnownKeys,
  PromptValidationError,
  WinkError,
} from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import { checkSchema, type JsonSchema, listFields, type Schema } from "../base/schema/schema.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import type { Session } from "../session/session.ts";
import { checkFunction } from "../tools/config-checks.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { checkPolicies, type ToolPolicy } from "../tools/policy.ts";
import { Tool } from "../tools/tool.ts";
import type { MessageRole } from "./message-role.ts";
import { fillTemplate, parseSectionText, type TemplateText } from "./template-text.ts";
import type { Visibility } from "./visibility.ts";

/** Options that all sections share. */
export interface SectionOptions<Params = never> {
  /** Unique among siblings. Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** Heading of the section. */
  readonly title: string;
  /** Schema of the section's params: an object at its root. */
  readonly params?: Schema | undefined;
  /** Values for params that are not bound. */
  readonly defaultParams?: object | undefined;
  /** Tools that are available while the section is shown in full. */
  readonly tools?: readonly Tool[] | undefined;
  /** Hosted tools that are available while the section is shown in full. */
  readonly hostedTools?: readonly HostedTool[] | undefined;
  /** Sections below this one. */
  readonly children?: readonly Section[] | undefined;
  /** Returns `false` to omit the section, its children and their tools. @default always `true` */
  readonly enabled?: Enabled<Params> | undefined;
  /**
   * Shown instead of the section, its children and their tools while the section is summarized. With
   * `params`, a template; without, plain text.
   */
  readonly summary?: string | undefined;
  /** Initial visibility, until the session changes it. @default "full" */
  readonly visibility?: Visibility | VisibilitySelector<Params> | undefined;
  /** Checked before each call to the section's tools. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** Whether overrides may replace the text. @default true */
  readonly acceptsOverrides?: boolean | undefined;
  /**
   * Who speaks in the section and its children. Untrusted text belongs in a section with the role
   * `"user"`. Only for top-level sections: a child has its parent's role.
   * @default "system"
   */
  readonly role?: MessageRole | undefined;
}

/** Key of a section's method that tells whether it renders the same each time. Not for applications. */
export const rendersAlike = Symbol("rendersAlike");

/** The keys of {@link SectionOptions}. */
export const sectionKeys: KnownKeys<SectionOptions> = {
  acceptsOverrides: true,
  children: true,
  defaultParams: true,
  enabled: true,
  hostedTools: true,
  key: true,
  params: true,
  policies: true,
  role: true,
  summary: true,
  title: true,
  tools: true,
  visibility: true,
};

/**
 * Passed to {@link Section.prepare} and {@link Section.release}. An evaluation passes a section the same object
 * each time.
 */
export interface PrepareContext {
  /** Aborts when the evaluation is canceled or its deadline passes. */
  readonly signal: AbortSignal;
  /** The evaluation's session. */
  readonly session: Session;
  /**
   * Returns the names of the tools that other sections of the prompt have now. Omitted if the section is
   * prepared without a prompt.
   */
  readonly listOtherToolNames?: (() => ReadonlySet<string>) | undefined;
}

/** Taken from a method, because methods are bivariant: only `Needs` distinguishes section types. */
type Enabled<Params> = {
  test(params: Params, context: { readonly session: Session }): boolean;
}["test"];

type VisibilitySelector<Params> = {
  select(params: Params, context: { readonly session: Session }): Visibility;
}["select"];

/**
 * One heading of a prompt: its text, and the tools that belong to it.
 *
 * `Params` is the type that `render` receives. `Needs` is the type that must be bound: fields with
 * a default are optional, and the children's params are added. Plain `Section` matches every
 * section. A subclass with type parameters marks them `in out`, so that arrays of it preserve what
 * each section needs.
 */
export abstract class Section<Params = never, Needs = Params> {
  /**
   * Carries the type of the params to bind; never set at run time. A function, so that every
   * section is assignable to `Section`.
   */
  declare readonly "~needs": (params: Needs) => void;
  /** Unique among siblings. */
  readonly key: string;
  /** Heading of the section. */
  readonly title: string;
  /** Schema of the section's params, or `null`. */
  readonly params: Schema | null;
  /** `params` as JSON Schema. */
  readonly paramsSchema: JsonSchema | null;
  /** Values for params that are not bound. */
  readonly defaultParams: object;
  /** Sections below this one. */
  readonly children: readonly Section[];
  /** The summary as it was written, or `null`. */
  readonly summary: string | null;
  /** Checked before each call to the section's tools. */
  readonly policies: readonly ToolPolicy[];
  /** Whether overrides may replace the text. */
  readonly acceptsOverrides: boolean;
  /** The role that was passed, or `null`: `"system"`, or the parent's role. */
  readonly role: MessageRole | null;
  readonly #summaryText: TemplateText | null;
  readonly #visibility: Visibility | VisibilitySelector<Params>;
  readonly #tools: readonly Tool[];
  readonly #hostedTools: readonly HostedTool[];
  readonly #enabled: Enabled<Params>;

  constructor(options: SectionOptions<Params>) {
    checkKnownKeys(options, new.target.name, sectionKeys, PromptValidationError);
    this.key = checkKey(options.key, `${new.target.name}.key`);
    const field = (name: string) => `Section "${this.key}" ${name}`;
    this.title = checkLine(options.title, field("title")).trim();
    this.params = options.params ?? null;
    this.paramsSchema = this.params && checkSchema(this.params, field("params"), ["object"]);
    this.defaultParams = copyAndFreeze(options.defaultParams ?? {});
    checkDefaults(this.defaultParams, this.paramsSchema, field("defaultParams"));
    this.children = checkInstances(options.children, Section, field("children"));
    this.#tools = checkInstances(options.tools, Tool, field("tools"));
    this.#hostedTools = checkInstances(options.hostedTools, HostedTool, field("hostedTools"));
    this.#enabled = checkFunction(options.enabled, field("enabled")) ?? (() => true);
    this.summary = options.summary ?? null;
    this.#summaryText =
      this.summary === null
        ? null
        : parseSectionText(this.summary, this.paramsSchema, field("summary"));
    this.#visibility = checkVisibility(
      options.visibility ?? "full",
      this.summary,
      field("visibility"),
    );
    this.policies = checkPolicies(options.policies, field("policies"));
    this.acceptsOverrides = options.acceptsOverrides ?? true;
    this.role = checkRole(options.role, field("role"));
  }

  /**
   * Loads what the section needs before it is rendered, such as tools that a server lists. `evaluate` awaits it
   * once before the prompt is rendered, for each enabled section, and again before a later turn if
   * `revision` has changed. An error ends the evaluation. Not called if a resumed evaluation has a stored answer, so
   * hosted tools should not depend on it.
   */
  prepare?(context: PrepareContext): Promise<void>;

  /**
   * Releases what `prepare` opened for an evaluation. `evaluate` awaits it once when the evaluation ends, also if
   * `prepare` failed or has not finished.
   */
  release?(context: PrepareContext): Promise<void>;

  /**
   * Returns the markdown below the heading. Must be deterministic. If it returns `""` and the
   * section has no children, the heading is omitted too.
   */
  abstract render(params: Params, depth: number, number: string): string;

  /** Name of the only adapter that can run the section, or `null` for any. */
  get provider(): string | null {
    return null;
  }

  /**
   * A value that changes when the section offers other tools or another text: then it is prepared and rendered
   * again before the next turn. `prepare` itself should not change it. Read only if the section has `prepare`.
   */
  get revision(): unknown {
    return null;
  }

  /**
   * Returns whether the section is always shown in full with the same text and tools, so that a prompt of such sections
   * is rendered once. Your own class may depend on anything, so it need not override this. Not for applications.
   */
  [rendersAlike](): boolean {
    return false;
  }

  /** Returns whether the section is part of the prompt. */
  isEnabled(params: Params, session: Session): boolean {
    return this.#enabled(params, { session });
  }

  /**
   * Returns how the section is shown: `sessionVisibility`, or if that is `null`, as its
   * own options say.
   */
  effectiveVisibility(
    params: Params,
    session: Session,
    sessionVisibility: Visibility | null,
  ): Visibility {
    if (sessionVisibility !== null) return sessionVisibility;
    const own = this.#visibility;
    return typeof own === "function" ? own(params, { session }) : own;
  }

  /** Renders the summary that is shown instead of the section. */
  renderSummary(params: Params): string {
    return this.#summaryText ? fillTemplate(this.#summaryText, Object(params)) : "";
  }

  /** Returns the text that an override may replace, or `null` if there is none. */
  overridableText(): string | null {
    return null;
  }

  /** Returns the tools that the model may call. Override it to add tools. */
  tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Returns the tools that the provider runs. Override it to add tools. */
  hostedTools(): readonly HostedTool[] {
    return this.#hostedTools;
  }

  /** Returns a copy of the section with some options changed. Subclasses must override it. */
  clone(_options?: object): this {
    const name = this.constructor.name;
    throw new WinkError(`${name} cannot be cloned. Override clone() to create a ${name}.`);
  }

  /** Releases everything the section holds outside this process. May be called more than once. */
  async cleanup(): Promise<unknown> {
    return undefined;
  }

  /**
   * Releases what the section holds in this process, because another attempt continues the evaluation: files are kept
   * in `persistDir` and not synced. May be called instead of `cleanup`. @default cleans up
   */
  async suspend(): Promise<void> {
    await this.cleanup();
  }
}

function checkRole(role: MessageRole | undefined, field: string): MessageRole | null {
  if (role === undefined || role === "system" || role === "user") return role ?? null;
  const rule = 'must be "system" or "user"';
  throw new PromptValidationError({ field, value: role, rule, remedy: 'omit it for "system"' });
}

function checkVisibility<Selector>(
  visibility: Visibility | Selector,
  summary: string | null,
  field: string,
): Visibility | Selector {
  const isSelector = typeof visibility === "function";
  const needsSummary = isSelector || visibility === "summary";
  if (needsSummary && summary === null) {
    const remedy = 'add a summary, or use "full"';
    throw new PromptValidationError({
      field,
      value: visibility,
      rule: 'must be "full" for a section without a summary',
      remedy,
    });
  }
  if (isSelector || visibility === "full" || visibility === "summary") return visibility;
  throw new PromptValidationError({
    field,
    value: visibility,
    rule: 'must be "full", "summary" or a function',
    remedy: 'omit it for "full"',
  });
}

function checkInstances<Item>(
  items: readonly Item[] | undefined,
  type: abstract new (...args: never) => Item,
  field: string,
): readonly Item[] {
  if (items === undefined) return Object.freeze([]);
  const all = Array.isArray(items) ? [...items] : [items];
  const wrong = all.findIndex((item) => !(item instanceof type));
  if (wrong < 0 && Array.isArray(items)) return Object.freeze(all);
  const place = Array.isArray(items) ? `${field}[${wrong}]` : field;
  const rule = Array.isArray(items)
    ? `must be a ${type.name}`
    : `must be an array of ${type.name}s`;
  const remedy = `create it with new ${type.name}(…) or a factory`;
  throw new PromptValidationError({ field: place, value: all[Math.max(wrong, 0)], rule, remedy });
}

function checkDefaults(defaults: object, schema: JsonSchema | null, field: string): void {
  if (!isPlainObject(defaults)) {
    const remedy = "use { … } with a field for each default";
    throw new PromptValidationError({
      field,
      value: defaults,
      rule: "must be a plain object",
      remedy,
    });
  }
  if (schema?.["additionalProperties"]) return; // a record, or an object that allows more fields
  const names = Object.keys(defaults);
  const known = schema ? listFields(schema) : new Map<string, JsonSchema>();
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const near = suggestSpelling(unknown, known.keys());
  throw new PromptValidationError({
    field: `${field}.${unknown}`,
    value: unknown,
    rule: "must be one of the section's params",
    remedy: near
      ? `did you mean "${near}"?`
      : `use ${quoteNames(known.keys()) || "no defaults, or declare params"}`,
  });
}

import { checkKey } from "../base/check-names.ts";
import {
  checkKnownKeys,
  getErrorMessage,
  type KnownKeys,
  PromptValidationError,
  WinkError,
} from "../base/errors.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Session } from "../session/session.ts";
import { type Attachment, checkAttachment } from "./attachment.ts";
import { bindParams } from "./bind-params.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
import {
  type MatchedOverrides,
  matchOverrides,
  noOverrides,
  type OverridesStore,
  type SkippedOverride,
} from "./overrides/overrides.ts";
import { renderPrompt } from "./render-prompt.ts";
import { listEnabledSections } from "./render-sections.ts";
import type { RenderedPrompt } from "./rendered-prompt.ts";
import { rendersAlike, type Section } from "./section.ts";
import { isWorkspace } from "./sections/mounted-section.ts";
import { PromptTemplate } from "./template.ts";

declare module "../tools/tool-context.ts" {
  /** Adds the prompt to the context of tool handlers. */
  interface ToolContext {
    /** The prompt that is being evaluated. */
    readonly prompt: Prompt;
  }
}

/** A template that needs `Params` and answers with `Output`. */
type TemplateFor<Params, Output, State> = PromptTemplate<Output> & {
  readonly "~params": Params;
  readonly "~unbound": State;
};

/**
 * A prompt that may be evaluated. A prompt whose params must still be bound does not match: the
 * compiler shows which ones. Prompts that are typed only by their output always match; their params
 * are checked at run time.
 */
export type EvaluablePrompt<Output, State extends string = string> = Prompt<Output, object, State> &
  (string extends NoInfer<State> ? unknown : NoInfer<State>);

/** Options of {@link Prompt}. */
export interface PromptOptions {
  /** Store of overrides for sections and tools. @default none */
  readonly overrides?: OverridesStore | undefined;
  /** Tag of the overrides to load. @default "latest" */
  readonly overridesTag?: string | undefined;
}

const promptKeys: KnownKeys<PromptOptions> = { overrides: true, overridesTag: true };

/**
 * A template with its params bound. Only a prompt can be rendered or evaluated. `Prompt<Report>` is
 * any prompt that answers with a report. `State` is a message for each param that must be bound
 * before an evaluation, or `string` if there are none.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Write a haiku." });
 * const template = new PromptTemplate({ ns: "poems", key: "haiku", sections: [task] });
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
 * const { text } = await adapter.evaluate(new Prompt(template), { session: new Session() });
 * ```
 */
export class Prompt<
  Output = unknown,
  Params extends object = object,
  State extends string = string,
> {
  /** Carries messages about the params that must be bound; never set at run time. */
  declare readonly "~unbound": State;
  /** Name of the template. */
  readonly name: string;
  /** The template that the prompt renders. */
  readonly template: TemplateFor<Params, Output, State>;
  #overrides: OverridesState | null;
  #params: BoundParams | null = null;
  #attachments: readonly Attachment[] = Object.freeze([]);
  /** The rendered prompt, once it is known to be the same each time. */
  #rendered: RenderedPrompt<Output> | null = null;

  constructor(template: TemplateFor<Params, Output, State>, options: PromptOptions = {}) {
    if (!(template instanceof PromptTemplate)) {
      const rule = "must be a PromptTemplate";
      const remedy = "use new Prompt(new PromptTemplate({ … }))";
      throw new PromptValidationError({ field: "Prompt(template)", value: template, rule, remedy });
    }
    checkKnownKeys(options, "Prompt(options)", promptKeys, PromptValidationError);
    this.name = template.name;
    this.template = template;
    this.#overrides = createOverridesState(options);
  }

  /**
   * Returns a new prompt with these params, which replace any bound before. Pass one flat record
   * for all sections.
   */
  bind(params: Params): Prompt<Output, Params> {
    const bound = this.#copy();
    bound.#params = bindParams(this.template, params);
    return bound;
  }

  /** Returns a new prompt with these files and images added to its first request. */
  attach(...files: readonly Attachment[]): Prompt<Output, Params, State> {
    const attached = this.#copy();
    const checked = files.map((file, index) => checkAttachment(file, `attach(files)[${index}]`));
    attached.#attachments = Object.freeze([...this.#attachments, ...checked]);
    return attached;
  }

  /** Whether params have been bound. A prompt without params need not be bound. */
  get isBound(): boolean {
    return this.#params !== null;
  }

  /** Loads the overrides, if the prompt has a store. `evaluate` calls it automatically. */
  async loadOverrides(): Promise<this> {
    if (!this.#overrides) return this;
    const { store, tag } = this.#overrides;
    const { descriptor, outline } = this.template;
    const overrides = await store.load(descriptor, tag);
    this.#overrides.loaded = overrides
      ? matchOverrides(overrides, descriptor, outline)
      : noOverrides;
    return this;
  }

  /** Whether the prompt has a store of overrides, which `loadOverrides` reads. */
  get hasOverrides(): boolean {
    return this.#overrides !== null;
  }

  /** Loaded overrides that were not applied, because the prompt has changed or they are invalid. */
  get skippedOverrides(): readonly SkippedOverride[] {
    return this.#overrides?.loaded?.skipped ?? [];
  }

  /**
   * Renders the prompt. Without a session, sections that use one get an empty session. With `prepared: false`, the
   * text of sections that have `prepare` is omitted, and their tools are those that they have without it. Throws if
   * the prompt has a store and its overrides were not loaded.
   */
  render(
    options: {
      readonly session?: Session | undefined;
      readonly prepared?: boolean | undefined;
    } = {},
  ): RenderedPrompt<Output> {
    const keys = { session: true, prepared: true } as const;
    checkKnownKeys(options, "Prompt.render(options)", keys, PromptValidationError);
    if (this.#rendered) return this.#rendered;
    let { session } = options;
    const rendered = renderPrompt(this.template, {
      params: this.#params ?? bindParams(this.template, {}),
      session: () => (session ??= new Session()),
      attachments: this.#attachments,
      overrides: this.#requireOverrides(),
      prepared: options.prepared ?? true,
    });
    if (this.#rendersAlike()) this.#rendered = rendered;
    return rendered;
  }

  /**
   * Returns the enabled sections, with their places. `evaluate` prepares those that have `prepare` before it
   * renders the prompt.
   */
  listEnabledSections({ session }: { readonly session: Session }): readonly PlacedSection[] {
    const params = this.#params ?? bindParams(this.template, {});
    const { outline, name: promptName } = this.template;
    return listEnabledSections(outline, { promptName, params, session: () => session });
  }

  /** Returns the first section of a class, depth first, or `null`. */
  findSection<Found extends Section>(type: abstract new (...args: never) => Found): Found | null {
    for (const { section } of this.template.outline) {
      if (section instanceof type) return section;
    }
    return null;
  }

  /** Returns the file system of the first workspace section, or `null`. */
  filesystem(): Filesystem | null {
    for (const { section } of this.template.outline) {
      if (isWorkspace(section)) return section.filesystem;
    }
    return null;
  }

  /**
   * Cleans up every section. A failure does not prevent the others from being cleaned up; all
   * failures are thrown at the end.
   */
  async cleanup(): Promise<void> {
    await this.#endSections((section) => section.cleanup());
  }

  /**
   * Releases what the sections hold in this process, because another attempt continues the evaluation. Failures are
   * thrown as by `cleanup`.
   */
  async suspend(): Promise<void> {
    await this.#endSections((section) => section.suspend());
  }

  async #endSections(end: (section: Section) => Promise<unknown>): Promise<void> {
    const failures: WinkError[] = [];
    for (const { section, path } of this.template.outline) {
      try {
        await end(section);
      } catch (cause) {
        failures.push(
          new WinkError(`Section "${path}" failed to clean up: ${getErrorMessage(cause)}`, {
            cause,
          }),
        );
      }
    }
    if (failures.length === 0) return;
    const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
    throw new WinkError(failures.map(getErrorMessage).join("; "), { cause });
  }

  #rendersAlike(): boolean {
    return (
      !this.#overrides && this.template.outline.every(({ section }) => section[rendersAlike]())
    );
  }

  #requireOverrides(): MatchedOverrides {
    if (!this.#overrides) return noOverrides;
    if (this.#overrides.loaded) return this.#overrides.loaded;
    throw new PromptValidationError({
      field: `Prompt "${this.name}" overrides`,
      value: this.#overrides.tag,
      rule: "must be loaded before the prompt is rendered",
      remedy: "call await prompt.loadOverrides() first",
    });
  }

  #copy(): Prompt<Output, Params, State> {
    const copy = new Prompt<Output, Params, State>(this.template);
    copy.#overrides = this.#overrides; // copies share the loaded overrides
    copy.#params = this.#params;
    copy.#attachments = this.#attachments;
    return copy;
  }
}

interface OverridesState {
  readonly store: OverridesStore;
  readonly tag: string;
  loaded: MatchedOverrides | null;
}

function createOverridesState({
  overrides: store,
  overridesTag,
}: PromptOptions): OverridesState | null {
  const tag = checkKey(overridesTag ?? "latest", "Prompt overridesTag");
  if (store === undefined) return null;
  if (typeof store?.load === "function") return { store, tag, loaded: null };
  throw new PromptValidationError({
    field: "Prompt overrides",
    value: store,
    rule: "must be an OverridesStore",
    remedy: "use new LocalOverridesStore(filesystem), or an object with load and save",
  });
}

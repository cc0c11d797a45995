import { messageOf, PromptValidationError, WinkError } from "../base/errors.ts";
import { checkKey } from "../base/names.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Session } from "../session/session.ts";
import { type Attachment, checkAttachment } from "./attachment.ts";
import { bindParams } from "./bound-params.ts";
import type { BoundParams } from "./outline.ts";
import {
  type FittedOverrides,
  fitOverrides,
  noOverrides,
  type OverridesStore,
  type SkippedOverride,
} from "./overrides/overrides.ts";
import { render } from "./render.ts";
import type { RenderedPrompt } from "./rendered-prompt.ts";
import type { Section } from "./section.ts";
import { isWorkspace } from "./sections/mounted-section.ts";
import { PromptTemplate } from "./template.ts";

declare module "../tools/tool-context.ts" {
  interface ToolContext {
    readonly prompt: Prompt;
  }
}

/** A template that needs `Params` and answers with `Output`. */
type TemplateNeeding<Params, Output> = PromptTemplate<Output> & { readonly "~params": Params };

/** Where a prompt's other words come from. */
export interface PromptOptions {
  readonly overrides?: OverridesStore | undefined;
  /** @default "latest" */
  readonly overridesTag?: string | undefined;
}

/** A template with its params: the only thing that renders. */
export class Prompt<Output = unknown, Params extends object = object> {
  readonly name: string;
  readonly template: TemplateNeeding<Params, Output>;
  #overriding: Overriding | null;
  #params: BoundParams | null = null;
  #attachments: readonly Attachment[] = Object.freeze([]);

  constructor(template: TemplateNeeding<Params, Output>, options: PromptOptions = {}) {
    if (!(template instanceof PromptTemplate)) {
      const rule = "must be a PromptTemplate";
      const remedy = "new Prompt(new PromptTemplate({ … }))";
      throw new PromptValidationError({ field: "Prompt(template)", value: template, rule, remedy });
    }
    this.name = template.name;
    this.template = template;
    this.#overriding = overridingOf(options);
  }

  /** A new prompt with these params: one flat record for all sections, in place of any before. */
  bind(params: Params): Prompt<Output, Params> {
    const bound = this.#copy();
    bound.#params = bindParams(this.template, params);
    return bound;
  }

  /** A new prompt with these files and images added to its first request. */
  attach(...files: readonly Attachment[]): Prompt<Output, Params> {
    const attached = this.#copy();
    const checked = files.map((file, index) => checkAttachment(file, `attach(files)[${index}]`));
    attached.#attachments = Object.freeze([...this.#attachments, ...checked]);
    return attached;
  }

  /** Fetches the overrides, if a store was given; `evaluate` does so by itself. */
  async loadOverrides(): Promise<this> {
    if (!this.#overriding) return this;
    const { store, tag } = this.#overriding;
    const { descriptor, outline } = this.template;
    const overrides = await store.load(descriptor, tag);
    this.#overriding.loaded = overrides
      ? fitOverrides(overrides, descriptor, outline)
      : noOverrides;
    return this;
  }

  /** Overrides that were loaded and not applied, because they were written for something else. */
  get skippedOverrides(): readonly SkippedOverride[] {
    return this.#overriding?.loaded?.skipped ?? [];
  }

  /** Without a session, sections that ask for one find an empty one. */
  render(options: { readonly session?: Session | undefined } = {}): RenderedPrompt<Output> {
    let session = options.session;
    return render(this.template, {
      params: this.#params ?? bindParams(this.template, {}),
      session: () => (session ??= new Session()),
      attachments: this.#attachments,
      overrides: this.#loadedOverrides(),
    });
  }

  /** The first section of this class, depth first. */
  findSection<Found extends Section>(type: abstract new (...args: never) => Found): Found | null {
    for (const { section } of this.template.outline) {
      if (section instanceof type) return section;
    }
    return null;
  }

  /** The files of the first workspace, if there is one. */
  filesystem(): Filesystem | null {
    for (const { section } of this.template.outline) {
      if (isWorkspace(section)) return section.filesystem;
    }
    return null;
  }

  /** Cleans up every section; one that fails keeps none of the others from it. */
  async cleanup(): Promise<void> {
    const failures: WinkError[] = [];
    for (const { section, path } of this.template.outline) {
      try {
        await section.cleanup();
      } catch (cause) {
        failures.push(
          new WinkError(`Section "${path}" failed to clean up: ${messageOf(cause)}`, { cause }),
        );
      }
    }
    if (failures.length === 0) return;
    const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
    throw new WinkError(failures.map(messageOf).join("; "), { cause });
  }

  #loadedOverrides(): FittedOverrides {
    if (!this.#overriding) return noOverrides;
    if (this.#overriding.loaded) return this.#overriding.loaded;
    throw new PromptValidationError({
      field: `Prompt "${this.name}" overrides`,
      value: this.#overriding.tag,
      rule: "must be loaded before the prompt is rendered",
      remedy: "await prompt.loadOverrides() first",
    });
  }

  #copy(): Prompt<Output, Params> {
    const copy = new Prompt(this.template);
    copy.#overriding = this.#overriding; // what one of them loads, all have
    copy.#params = this.#params;
    copy.#attachments = this.#attachments;
    return copy;
  }
}

interface Overriding {
  readonly store: OverridesStore;
  readonly tag: string;
  loaded: FittedOverrides | null;
}

function overridingOf({ overrides: store, overridesTag }: PromptOptions): Overriding | null {
  const tag = checkKey(overridesTag ?? "latest", "Prompt overridesTag");
  if (store === undefined) return null;
  if (typeof store?.load === "function") return { store, tag, loaded: null };
  throw new PromptValidationError({
    field: "Prompt overrides",
    value: store,
    rule: "must be an OverridesStore",
    remedy: "new LocalOverridesStore(filesystem), or an object with load and save",
  });
}

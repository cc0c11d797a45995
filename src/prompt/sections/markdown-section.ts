import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { copyAndFreeze } from "../../base/freeze.ts";
import type { Schema } from "../../base/schema/schema.ts";
import type { UnboundParams } from "../params.ts";
import { rendersAlike, Section, type SectionOptions, sectionKeys } from "../section.ts";
import { fillTemplate, parseSectionText, type TemplateText } from "../template-text.ts";

/** Options of {@link MarkdownSection}. */
export interface MarkdownSectionOptions<
  Params,
  Input,
  Defaulted extends keyof Input,
  Children extends Section,
> extends SectionOptions<Params> {
  /**
   * Markdown text. With `params`, `$name` or `${name}` inserts a param, and `$$` a dollar sign.
   * Without `params`, a dollar sign is text.
   */
  readonly template: string;
  /** Schema of the params that the template uses: an object at its root. */
  readonly params?: Schema<Params, Input> | undefined;
  /** Values for params that are not bound. `bind` may omit these fields. */
  readonly defaultParams?: Pick<Input, Defaulted> | undefined;
  /** Sections below this one. */
  readonly children?: readonly Children[] | undefined;
}

const markdownKeys: KnownKeys<MarkdownSectionOptions<never, object, never, never>> = {
  ...sectionKeys,
  template: true,
};

/**
 * A section whose text is a template.
 *
 * @example
 * ```ts
 * import { MarkdownSection } from "weakincentives";
 * import * as z from "zod";
 *
 * const task = new MarkdownSection({
 *   key: "task",
 *   title: "Task",
 *   template: "Answer in $language: $question",
 *   params: z.object({ question: z.string(), language: z.string() }),
 *   defaultParams: { language: "English" },
 * });
 * ```
 */
export class MarkdownSection<
  in out Params extends object = object,
  in out Input = Params,
  in out Defaulted extends keyof Input = never,
  in out Children extends Section = never,
> extends Section<Params, UnboundParams<Input, Defaulted, Children>> {
  /** The template as it was written. */
  readonly template: string;
  readonly #options: MarkdownSectionOptions<Params, Input, Defaulted, Children>;
  readonly #text: TemplateText;

  constructor(options: MarkdownSectionOptions<Params, Input, Defaulted, Children>) {
    checkKnownKeys(options, new.target.name, markdownKeys, PromptValidationError);
    const { template, ...rest } = options;
    super(rest);
    this.template = template;
    this.#options = {
      ...options,
      defaultParams: copyAndFreeze(options.defaultParams),
      children: options.children && [...options.children],
      tools: options.tools && [...options.tools],
      hostedTools: options.hostedTools && [...options.hostedTools],
    };
    const field = `Section "${this.key}" template`;
    this.#text = parseSectionText(template, this.paramsSchema, field);
  }

  override render(params: Params, _depth: number, _number: string): string {
    return fillTemplate(this.#text, params);
  }

  /** Returns whether the section has no params and is always shown in full. Not for applications. */
  override [rendersAlike](): boolean {
    const isOwnClass = Object.getPrototypeOf(this) === MarkdownSection.prototype;
    const isFixed = this.#options.enabled === undefined && this.summary === null;
    return isOwnClass && isFixed && this.params === null;
  }

  override overridableText(): string | null {
    return this.template;
  }

  /** Returns a copy of the section and its children, with some options changed. */
  override clone(
    options: Partial<MarkdownSectionOptions<Params, Input, Defaulted, Children>> = {},
  ): this {
    const { constructor: actualClass } = this;
    if (actualClass !== MarkdownSection) return super.clone(options);
    const children = options.children ?? this.#options.children?.map((child) => child.clone());
    return new MarkdownSection({ ...this.#options, ...options, children }) as this;
  }
}

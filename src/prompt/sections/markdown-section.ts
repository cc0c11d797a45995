import { frozenCopy } from "../../base/freeze.ts";
import { fieldsOf, type Schema } from "../../base/schema/schema.ts";
import type { Remaining } from "../params.ts";
import { Section, type SectionOptions } from "../section.ts";
import {
  checkPlaceholders,
  fillTemplate,
  readTemplate,
  type TemplateText,
} from "../template-text.ts";

/** What a `MarkdownSection` is made from. */
export interface MarkdownSectionOptions<
  Params,
  Input,
  Defaulted extends keyof Input,
  Children extends Section,
> extends SectionOptions<Params> {
  /** Markdown; `$name` or `${name}` stands for the param of that name, `$$` for a dollar. */
  readonly template: string;
  readonly params?: Schema<Params, Input> | undefined;
  /** Used where nothing is bound: these fields may be left out of `bind`. */
  readonly defaultParams?: Pick<Input, Defaulted> | undefined;
  readonly children?: readonly Children[] | undefined;
}

/**
 * A section whose text is a template.
 *
 * @example
 * const task = new MarkdownSection({
 *   key: "task",
 *   title: "Task",
 *   template: "Answer in $language: $question",
 *   params: z.object({ question: z.string(), language: z.string() }),
 *   defaultParams: { language: "English" },
 * });
 */
export class MarkdownSection<
  in out Params extends object = object,
  in out Input = Params,
  in out Defaulted extends keyof Input = never,
  in out Children extends Section = never,
> extends Section<Params, Remaining<Input, Defaulted, Children>> {
  readonly template: string;
  readonly #options: MarkdownSectionOptions<Params, Input, Defaulted, Children>;
  readonly #text: TemplateText;

  constructor(options: MarkdownSectionOptions<Params, Input, Defaulted, Children>) {
    super(options);
    const field = `Section "${this.key}" template`;
    this.template = options.template;
    this.#options = {
      ...options,
      defaultParams: frozenCopy(options.defaultParams),
      children: options.children && [...options.children],
      tools: options.tools && [...options.tools],
      hostedTools: options.hostedTools && [...options.hostedTools],
    };
    this.#text = readTemplate(options.template, field);
    checkPlaceholders(
      this.#text,
      new Set(this.paramsSchema && fieldsOf(this.paramsSchema).keys()),
      field,
    );
  }

  override render(params: Params, _depth: number, _number: string): string {
    return fillTemplate(this.#text, params);
  }

  override overridableText(): string | null {
    return this.template;
  }

  /** The same section, children cloned too, with other options where given. */
  override clone(
    options: Partial<MarkdownSectionOptions<Params, Input, Defaulted, Children>> = {},
  ): this {
    const maker: unknown = this.constructor;
    if (maker !== MarkdownSection) return super.clone(options);
    const children = options.children ?? this.#options.children?.map((child) => child.clone());
    return new MarkdownSection({ ...this.#options, ...options, children }) as this;
  }
}

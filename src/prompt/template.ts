import { checkKey, checkLine } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { checkPolicies, type ToolPolicy } from "../tools/policy.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import { checkPolicyNames } from "./check-policy-names.ts";
import { describePrompt } from "./describe-prompt.ts";
import { checkFeedback, type FeedbackProvider } from "./feedback.ts";
import { createOutline, listSectionTools, type PlacedSection } from "./outline.ts";
import { createOutputContract, type OutputContract } from "./output-contract.ts";
import type { CompatibleSections, ParamsOf, UnboundState } from "./params.ts";
import type { PromptDescriptor } from "./prompt-descriptor.ts";
import { Section } from "./section.ts";
import {
  checkParamTypes,
  checkRoles,
  checkTemplatePaths,
  checkToolNames,
} from "./template-checks.ts";

/** Options of {@link PromptTemplate}. */
export interface PromptTemplateOptions<Output, Sections> {
  /** Namespace that groups related templates. Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly ns: string;
  /** Key within the namespace. Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** Name in events and errors. @default "ns:key" */
  readonly name?: string | undefined;
  /** Sections of the prompt, in order. */
  readonly sections: Sections;
  /**
   * Schema of the model's answer: an object, or an array for a list. @default the answer is text
   */
  readonly output?: Schema<Output> | undefined;
  /** Whether the answer may have undeclared fields. @default false */
  readonly allowExtraKeys?: boolean | undefined;
  /** Resources that tool handlers can access in every evaluation. */
  readonly resources?: ResourceRegistry | undefined;
  /** Checked before each call to any tool. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** Called after each tool call. */
  readonly feedback?: readonly FeedbackProvider[] | undefined;
}

const templateKeys: KnownKeys<PromptTemplateOptions<unknown, unknown>> = {
  allowExtraKeys: true,
  feedback: true,
  key: true,
  name: true,
  ns: true,
  output: true,
  policies: true,
  resources: true,
  sections: true,
};

/** Requires the schema if the declared output is not text. */
export type RequiredOutput<Output> = [string] extends [Output]
  ? unknown
  : { readonly output: Schema<Output> };

/**
 * The definition of an agent: its sections, and the form of its answer. `PromptTemplate<Report>` is
 * any template that answers with a report, regardless of its params.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
 * import * as z from "zod";
 *
 * const template = new PromptTemplate({
 *   ns: "support",
 *   key: "reply",
 *   sections: [
 *     new MarkdownSection({
 *       key: "task",
 *       title: "Task",
 *       template: "Answer the question: $question",
 *       params: z.object({ question: z.string() }),
 *     }),
 *   ],
 *   output: z.object({ answer: z.string(), confident: z.boolean() }),
 * });
 * const prompt = new Prompt(template).bind({ question: "How do I reset my password?" });
 * ```
 */
export class PromptTemplate<Output = string, Sections extends Section = Section> {
  /** Carries the type of the params to bind; never set at run time. */
  declare readonly "~params": ParamsOf<Sections>;
  /** Carries messages about the params that must be bound; never set at run time. */
  declare readonly "~unbound": UnboundState<ParamsOf<Sections>>;
  /** Namespace that groups related templates. */
  readonly ns: string;
  /** Key within the namespace. */
  readonly key: string;
  /** Name in events and errors. */
  readonly name: string;
  /** Root sections, in order. */
  readonly sections: readonly Sections[];
  /** Every section with its place, depth first. */
  readonly outline: readonly PlacedSection[];
  /** The required form of the answer; `null` for text. */
  readonly output: OutputContract<Output> | null;
  /** Resources that tool handlers can access, or `null` if there are none. */
  readonly resources: ResourceRegistry | null;
  /** Checked before each call to any tool. */
  readonly policies: readonly ToolPolicy[];
  /** Called after each tool call. */
  readonly feedback: readonly FeedbackProvider[];
  #descriptor: PromptDescriptor | null = null;

  constructor(
    options: PromptTemplateOptions<Output, CompatibleSections<Sections>> & RequiredOutput<Output>,
  );
  constructor(options: PromptTemplateOptions<Output, readonly Sections[]>) {
    checkKnownKeys(options, new.target.name, templateKeys, PromptValidationError);
    this.ns = checkKey(options.ns, "PromptTemplate.ns");
    this.key = checkKey(options.key, "PromptTemplate.key");
    this.name = checkLine(options.name ?? `${this.ns}:${this.key}`, "PromptTemplate.name");
    this.sections = checkSections(options.sections, this.name);
    this.outline = Object.freeze(createOutline(this.sections));
    checkTemplatePaths(this.outline, this.name);
    checkRoles(this.outline, this.name);
    const listed = listSectionTools(this.outline);
    checkToolNames(listed, this.name);
    checkParamTypes(this.outline, this.name);
    const { output, allowExtraKeys = false } = options;
    const field = `Template "${this.name}" output`;
    this.output = output ? createOutputContract(output, allowExtraKeys, field) : null;
    this.resources = checkRegistry(options.resources, this.name);
    this.policies = checkPolicies(options.policies, `Template "${this.name}" policies`);
    // Sections that are prepared may have other tools then.
    if (!this.outline.some(({ section }) => section.prepare)) checkPolicyNames(listed, this);
    this.feedback = checkFeedback(options.feedback, `Template "${this.name}" feedback`);
    Object.freeze(this);
  }

  /** The parts of the template that accept overrides; computed on first use. */
  get descriptor(): PromptDescriptor {
    this.#descriptor ??= describePrompt(this, this.outline);
    return this.#descriptor;
  }
}

function checkSections<Item extends Section>(
  sections: readonly Item[],
  name: string,
): readonly Item[] {
  const isList: boolean = Array.isArray(sections);
  if (isList && sections.every((section) => section instanceof Section)) {
    return Object.freeze([...sections]);
  }
  throw new PromptValidationError({
    field: `Template "${name}" sections`,
    value: sections,
    rule: "must be an array of sections",
    remedy: "use sections: [new MarkdownSection({ … })]",
  });
}

function checkRegistry(
  registry: ResourceRegistry | undefined,
  name: string,
): ResourceRegistry | null {
  if (registry === undefined || registry instanceof ResourceRegistry) return registry ?? null;
  throw new PromptValidationError({
    field: `Template "${name}" resources`,
    value: registry,
    rule: "must be a ResourceRegistry",
    remedy: "use new ResourceRegistry().bind(key, value)",
  });
}

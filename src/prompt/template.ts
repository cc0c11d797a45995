import { PromptValidationError } from "../base/errors.ts";
import { checkKey, checkLine } from "../base/names.ts";
import type { Schema } from "../base/schema/schema.ts";
import { checkPolicies, type ToolPolicy } from "../tools/policy.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import { describePrompt } from "./descriptor.ts";
import { checkFeedback, type FeedbackProvider } from "./feedback.ts";
import { outlineOf, type Placed } from "./outline.ts";
import type { Agreeing, ParamsOf } from "./params.ts";
import type { PromptDescriptor } from "./prompt-descriptor.ts";
import { Section } from "./section.ts";
import { type OutputContract, outputContract } from "./structured-output.ts";
import { checkNames, checkPaths, checkTwins } from "./template-checks.ts";

/** What a `PromptTemplate` is made from. */
export interface PromptTemplateOptions<Output, Sections> {
  readonly ns: string;
  readonly key: string;
  /** @default "ns:key" */
  readonly name?: string | undefined;
  readonly sections: Sections;
  /** What the model must answer with; an array schema for a list. Without it, text. */
  readonly output?: Schema<Output> | undefined;
  /** The answer may have fields the schema does not name. @default false */
  readonly allowExtraKeys?: boolean | undefined;
  /** What handlers may reach, in every evaluation. */
  readonly resources?: ResourceRegistry | undefined;
  /** Asked before each call of any tool. */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** Heard after each tool call. */
  readonly feedback?: readonly FeedbackProvider[] | undefined;
}

/** Whoever says that a template answers with more than text must give the schema. */
type Declared<Output> = [string] extends [Output] ? unknown : { readonly output: Schema<Output> };

/**
 * The definition of an agent: its sections, and what it answers with. `PromptTemplate<Report>` is
 * any that answers with a report, whatever must be bound to it.
 */
export class PromptTemplate<Output = string, Sections extends Section = Section> {
  /** Carries the type of what must be bound; never set. */
  declare readonly "~params": ParamsOf<Sections>;
  readonly ns: string;
  readonly key: string;
  readonly name: string;
  readonly sections: readonly Sections[];
  /** Every section where it stands, depth first. */
  readonly outline: readonly Placed[];
  /** `null`: text. */
  readonly output: OutputContract<Output> | null;
  readonly resources: ResourceRegistry | null;
  readonly policies: readonly ToolPolicy[];
  readonly feedback: readonly FeedbackProvider[];
  #descriptor: PromptDescriptor | null = null;

  constructor(options: PromptTemplateOptions<Output, Agreeing<Sections>> & Declared<Output>);
  constructor(options: PromptTemplateOptions<Output, readonly Sections[]>) {
    this.ns = checkKey(options?.ns, "PromptTemplate.ns");
    this.key = checkKey(options.key, "PromptTemplate.key");
    this.name = checkLine(options.name ?? `${this.ns}:${this.key}`, "PromptTemplate.name");
    this.sections = checkSections(options.sections, this.name);
    this.outline = Object.freeze(outlineOf(this.sections));
    checkPaths(this.outline, this.name);
    checkNames(this.outline, this.name);
    checkTwins(this.outline, this.name);
    const { output, allowExtraKeys = false } = options;
    const field = `Template "${this.name}" output`;
    this.output = output ? outputContract(output, allowExtraKeys, field) : null;
    this.resources = checkRegistry(options.resources, this.name);
    this.policies = checkPolicies(options.policies, `Template "${this.name}" policies`);
    this.feedback = checkFeedback(options.feedback, `Template "${this.name}" feedback`);
    Object.freeze(this);
  }

  /** What of it can be overridden; worked out when it is first asked for. */
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
    rule: "must be a list of sections",
    remedy: "sections: [new MarkdownSection({ … })]",
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
    remedy: "new ResourceRegistry().bind(key, value)",
  });
}

import { descriptionRule, isDescription } from "../../base/check-names.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { listFields } from "../../base/schema/schema.ts";
import type { PlacedSection } from "../outline.ts";
import type { PromptDescriptor } from "../prompt-descriptor.ts";
import { parseSectionText, type TemplateText } from "../template-text.ts";

/** Replacement texts for a prompt, each valid only for the text it was written for. */
export interface Overrides {
  /** Section overrides, by path. */
  readonly sections?: Readonly<Record<string, SectionOverride>> | undefined;
  /** Tool overrides, by tool name. */
  readonly tools?: Readonly<Record<string, ToolOverride>> | undefined;
}

/** Replaces a section's text. */
export interface SectionOverride {
  /** The `contentHash` of the text that it replaces. */
  readonly expectedHash: string;
  /** The new text: a template if the section has params, plain text if not. */
  readonly body: string;
}

/** Replaces a tool's descriptions. Its params and behavior do not change. */
export interface ToolOverride {
  /** The `contractHash` of the tool that it changes. */
  readonly expectedContractHash: string;
  /** The new description: text of 1-4,096 characters, on one line or several. */
  readonly description?: string | undefined;
  /** New descriptions of params, by param name. */
  readonly paramDescriptions?: Readonly<Record<string, string>> | undefined;
}

/** Stores overrides by prompt and tag. */
export interface OverridesStore {
  /** Returns the stored overrides, or `null` if there are none. */
  load(descriptor: PromptDescriptor, tag: string): Promise<Overrides | null>;
  /** Stores overrides. */
  save(descriptor: PromptDescriptor, tag: string, overrides: Overrides): Promise<void>;
}

/** An override that was not applied, and the reason. */
export interface SkippedOverride {
  /** The overridden part: `"section task.limits"` or `"tool add"`. */
  readonly of: string;
  /** Why the override was not applied. */
  readonly reason: string;
}

/** Overrides that apply to the current prompt, and skipped ones. */
export interface MatchedOverrides {
  readonly bodies: ReadonlyMap<string, TemplateText>;
  readonly tools: ReadonlyMap<string, ToolOverride>;
  readonly skipped: readonly SkippedOverride[];
}

/** The value for a prompt without overrides. */
export const noOverrides: MatchedOverrides = Object.freeze({
  bodies: new Map<string, TemplateText>(),
  tools: new Map<string, ToolOverride>(),
  skipped: Object.freeze([]),
});

/**
 * Selects the overrides that match the current sections and tools. The rest are reported as
 * skipped.
 */
export function matchOverrides(
  overrides: Overrides,
  descriptor: PromptDescriptor,
  outline: readonly PlacedSection[],
): MatchedOverrides {
  const bodies = new Map<string, TemplateText>();
  const tools = new Map<string, ToolOverride>();
  const skipped: SkippedOverride[] = [];
  for (const [path, override] of Object.entries(overrides.sections ?? {})) {
    const placed = outline.find((one) => one.path === path);
    const known = descriptor.sections.find((one) => one.path === path);
    const text = parseBody(override, placed, known?.contentHash);
    if (typeof text === "string") skipped.push({ of: `section ${path}`, reason: text });
    else bodies.set(path, text);
  }
  for (const [name, override] of Object.entries(overrides.tools ?? {})) {
    const known = descriptor.tools.find((one) => one.name === name);
    const reason = findToolProblem(override, known?.contractHash, getParamNames(name, outline));
    if (reason !== null) skipped.push({ of: `tool ${name}`, reason });
    else tools.set(name, override);
  }
  return Object.freeze({ bodies, tools, skipped: Object.freeze(skipped) });
}

/** Returns the parsed text, or the reason why it cannot be used. */
function parseBody(
  { body, expectedHash }: SectionOverride,
  placed: PlacedSection | undefined,
  hash: string | undefined,
): TemplateText | string {
  if (!placed || hash === undefined) return "no section with this path accepts overrides";
  if (expectedHash !== hash)
    return "it was written for a different text; rewrite it for the current one";
  try {
    return parseSectionText(body, placed.section.paramsSchema, `override of "${placed.path}"`);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function findToolProblem(
  { expectedContractHash, description, paramDescriptions }: ToolOverride,
  hash: string | undefined,
  params: ReadonlySet<string>,
): string | null {
  if (hash === undefined) return "no tool with this name accepts overrides";
  if (expectedContractHash !== hash)
    return "it was written for a different tool; rewrite it for the current one";
  if (description !== undefined && !isDescription(description)) {
    return `its description ${descriptionRule}`;
  }
  const unknown = Object.keys(paramDescriptions ?? {}).filter((name) => !params.has(name));
  return unknown.length === 0 ? null : `the tool has no param ${quoteNames(unknown)}`;
}

function getParamNames(name: string, outline: readonly PlacedSection[]): ReadonlySet<string> {
  const tools = outline.flatMap(({ section }) => section.tools());
  const tool = tools.find((one) => one.name === name);
  return new Set(tool ? listFields(tool.paramsSchema).keys() : []);
}

import { messageOf } from "../../base/errors.ts";
import { fieldsOf } from "../../base/schema/schema.ts";
import { list } from "../../base/show.ts";
import type { Placed } from "../outline.ts";
import type { PromptDescriptor } from "../prompt-descriptor.ts";
import { checkPlaceholders, readTemplate, type TemplateText } from "../template-text.ts";

/** Other words for a prompt, each for the text it was written for. */
export interface Overrides {
  /** By path. */
  readonly sections?: Readonly<Record<string, SectionOverride>> | undefined;
  /** By tool name. */
  readonly tools?: Readonly<Record<string, ToolOverride>> | undefined;
}

/** Stands in for a section's text. */
export interface SectionOverride {
  /** The `contentHash` of the text it was written for. */
  readonly expectedHash: string;
  readonly body: string;
}

/** Stands in for a tool's words; its params and what it does stay. */
export interface ToolOverride {
  /** The `contractHash` of the tool it was written for. */
  readonly expectedContractHash: string;
  readonly description?: string | undefined;
  /** By param. */
  readonly paramDescriptions?: Readonly<Record<string, string>> | undefined;
}

/** Where overrides are kept, by prompt and tag. */
export interface OverridesStore {
  load(descriptor: PromptDescriptor, tag: string): Promise<Overrides | null>;
  save(descriptor: PromptDescriptor, tag: string, overrides: Overrides): Promise<void>;
}

/** An override that was not applied, and why. */
export interface SkippedOverride {
  /** `"section task.limits"` or `"tool add"`. */
  readonly of: string;
  readonly reason: string;
}

/** Overrides that fit the prompt as it is, and those that do not. */
export interface FittedOverrides {
  readonly bodies: ReadonlyMap<string, TemplateText>;
  readonly tools: ReadonlyMap<string, ToolOverride>;
  readonly skipped: readonly SkippedOverride[];
}

/** Nothing is overridden. */
export const noOverrides: FittedOverrides = Object.freeze({
  bodies: new Map<string, TemplateText>(),
  tools: new Map<string, ToolOverride>(),
  skipped: Object.freeze([]),
});

/** Takes what was written for the texts and tools there are; the rest is told, never applied. */
export function fitOverrides(
  overrides: Overrides,
  descriptor: PromptDescriptor,
  outline: readonly Placed[],
): FittedOverrides {
  const bodies = new Map<string, TemplateText>();
  const tools = new Map<string, ToolOverride>();
  const skipped: SkippedOverride[] = [];
  for (const [path, override] of Object.entries(overrides.sections ?? {})) {
    const placed = outline.find((one) => one.path === path);
    const known = descriptor.sections.find((one) => one.path === path);
    const text = readBody(override, placed, known?.contentHash);
    if (typeof text === "string") skipped.push({ of: `section ${path}`, reason: text });
    else bodies.set(path, text);
  }
  for (const [name, override] of Object.entries(overrides.tools ?? {})) {
    const known = descriptor.tools.find((one) => one.name === name);
    const reason = toolProblem(override, known?.contractHash, paramsOfTool(name, outline));
    if (reason !== null) skipped.push({ of: `tool ${name}`, reason });
    else tools.set(name, override);
  }
  return Object.freeze({ bodies, tools, skipped: Object.freeze(skipped) });
}

/** The text, or why it cannot be used. */
function readBody(
  { body, expectedHash }: SectionOverride,
  placed: Placed | undefined,
  hash: string | undefined,
): TemplateText | string {
  if (!placed || hash === undefined) return "there is no such section that accepts overrides";
  if (expectedHash !== hash) return "it was written for another text: write it anew for this one";
  const { paramsSchema } = placed.section;
  try {
    const text = readTemplate(body, `override of "${placed.path}"`);
    const fields = new Set(paramsSchema ? fieldsOf(paramsSchema).keys() : []);
    checkPlaceholders(text, fields, `override of "${placed.path}"`);
    return text;
  } catch (error) {
    return messageOf(error);
  }
}

function toolProblem(
  { expectedContractHash, description, paramDescriptions }: ToolOverride,
  hash: string | undefined,
  params: ReadonlySet<string>,
): string | null {
  if (hash === undefined) return "there is no such tool that accepts overrides";
  if (expectedContractHash !== hash)
    return "it was written for another tool: write it anew for this one";
  if (description !== undefined && !/^[\x20-\x7e]{1,200}$/.test(description)) {
    return "its description must be 1-200 printable ASCII characters";
  }
  const unknown = Object.keys(paramDescriptions ?? {}).filter((name) => !params.has(name));
  return unknown.length === 0 ? null : `the tool has no param ${list(unknown)}`;
}

function paramsOfTool(name: string, outline: readonly Placed[]): ReadonlySet<string> {
  const tools = outline.flatMap(({ section }) => section.tools());
  const tool = tools.find((one) => one.name === name);
  return new Set(tool ? fieldsOf(tool.paramsSchema).keys() : []);
}

import { createLazyField, deepFreeze } from "../base/freeze.ts";
import type { Session } from "../session/session.ts";
import { asHostedTool } from "../tools/as-hosted-tool.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import type { Tool } from "../tools/tool.ts";
import type { Attachment } from "./attachment.ts";
import { disclosureTools } from "./disclosure-tools.ts";
import type { BoundParams, PlacedSection } from "./outline.ts";
import type { MatchedOverrides, ToolOverride } from "./overrides/overrides.ts";
import type { PromptDescriptor } from "./prompt-descriptor.ts";
import {
  listVisibleSections,
  renderSections,
  runSectionCode,
  type TextContext,
  type VisibleSection,
} from "./render-sections.ts";
import type { NativeToolEnvelope, PromptMessage, RenderedPrompt } from "./rendered-prompt.ts";
import type { PromptTemplate } from "./template.ts";

declare module "../tools/tool-context.ts" {
  /** Adds the rendered prompt to the context of tool handlers. */
  interface ToolContext {
    /** The rendered prompt of the current turn. */
    readonly renderedPrompt: RenderedPrompt;
  }
}

export interface RenderContext {
  readonly params: BoundParams;
  /** Called only if a section uses the session. */
  readonly session: () => Session;
  readonly attachments: readonly Attachment[];
  readonly overrides: MatchedOverrides;
  /** Whether sections that have `prepare` are prepared. Otherwise their text is omitted. */
  readonly prepared: boolean;
}

/** Renders a template with bound params. Only `Prompt` calls it. */
export function renderPrompt<Output>(
  template: PromptTemplate<Output>,
  { params, session, attachments, overrides, prepared }: RenderContext,
): RenderedPrompt<Output> {
  const { outline, name: promptName } = template;
  const listTools = (placed: PlacedSection) =>
    runSectionCode(placed, "its tools() threw", () => placed.section.tools()).map((tool) =>
      applyOverride(tool, overrides.tools.get(tool.name)),
    );
  const visible = listVisibleSections(outline, { promptName, params, session });
  const open = visible
    .filter(({ visibility }) => visibility === "full")
    .map(({ placed }) => placed);
  const texts = { params, bodies: overrides.bodies, prepared, listTools };
  const renderFullText = (placed: PlacedSection) => {
    const below = outline.filter((one) => isWithin(one, placed));
    const inFull = listVisibleSections(below, { promptName, params, session }, placed);
    return renderSections(inFull, texts);
  };
  const hostedTools = open.flatMap((placed) => [
    ...runSectionCode(placed, "its hostedTools() threw", () => placed.section.hostedTools()),
    ...listTools(placed).flatMap(asHostedTool),
  ]);
  const messages = renderMessages(visible, texts);
  const rendered: Omit<RenderedPrompt<Output>, "descriptor"> = {
    promptName,
    text: messages.map(({ text }) => text).join("\n\n"),
    messages,
    tools: Object.freeze([
      ...open.flatMap(listTools),
      ...(open.length < visible.length
        ? disclosureTools({ outline, visible, renderFullText })
        : []),
    ]),
    hostedTools: Object.freeze(hostedTools),
    nativeTools: deepFreeze(hostedTools.map(toEnvelope)),
    policies: collectPolicies(template, open, listTools),
    providers: collectProviders(open),
    outputSchema: template.output?.jsonSchema ?? null,
    output: template.output,
    attachments,
  };
  // Computed on first use, because it hashes all texts.
  const complete = addDescriptor(rendered, () => template.descriptor);
  return Object.freeze(complete) as RenderedPrompt<Output>;
}

const addDescriptor = createLazyField<PromptDescriptor>("descriptor");

/** Renders one message per role. A prompt without text is one empty system message. */
function renderMessages(
  visible: readonly VisibleSection[],
  texts: TextContext,
): readonly PromptMessage[] {
  const messages = (["system", "user"] as const).map((role) => {
    const own = visible.filter(({ placed }) => placed.role === role);
    return Object.freeze({ role, text: renderSections(own, texts) });
  });
  const [system, ...others] = messages.filter(({ text }) => text !== "");
  return Object.freeze(system ? [system, ...others] : messages.slice(0, 1));
}

/** Converts a hosted tool to its provider-neutral envelope. */
export function toEnvelope({ name, kind, config }: HostedTool): NativeToolEnvelope {
  return { type: "built_in", name, kind, config };
}

function applyOverride(tool: Tool, override: ToolOverride | undefined): Tool {
  if (!override) return tool;
  return tool.withDescription(override.description ?? tool.description, override.paramDescriptions);
}

function collectProviders(open: readonly PlacedSection[]): ReadonlyMap<string, string> {
  return new Map(
    open.flatMap(({ path, section }) =>
      section.provider === null ? [] : [[path, section.provider]],
    ),
  );
}

/** Collects the policies of each tool: its own, then its section's, then the template's. */
function collectPolicies(
  { policies }: PromptTemplate<unknown>,
  open: readonly PlacedSection[],
  listTools: (placed: PlacedSection) => readonly Tool[],
): ReadonlyMap<string, readonly ToolPolicy[]> {
  return new Map(
    open.flatMap((placed) =>
      listTools(placed).map((tool) => [
        tool.name,
        [...tool.policies, ...placed.section.policies, ...policies],
      ]),
    ),
  );
}

function isWithin(placed: PlacedSection, top: PlacedSection): boolean {
  for (let one: PlacedSection | null = placed; one; one = one.parent) if (one === top) return true;
  return false;
}

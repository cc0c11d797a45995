import { deepFreeze } from "../base/freeze.ts";
import type { Session } from "../session/session.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import { projectedTool } from "../tools/projected-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { Attachment } from "./attachment.ts";
import { disclosureTools } from "./disclosure.ts";
import type { BoundParams, Placed } from "./outline.ts";
import type { FittedOverrides, ToolOverride } from "./overrides/overrides.ts";
import type { NativeToolEnvelope, RenderedPrompt } from "./rendered-prompt.ts";
import { sectionsText } from "./section-text.ts";
import { attempt, shownSections } from "./shown-sections.ts";
import type { PromptTemplate } from "./template.ts";

declare module "../tools/tool-context.ts" {
  interface ToolContext {
    readonly renderedPrompt: RenderedPrompt;
  }
}

export interface RenderContext {
  readonly params: BoundParams;
  /** Asked for only if some section wants it. */
  readonly session: () => Session;
  readonly attachments: readonly Attachment[];
  readonly overrides: FittedOverrides;
}

/** Only `Prompt` calls this: it has the params, and a session for those sections that ask it. */
export function render<Output>(
  template: PromptTemplate<Output>,
  { params, session, attachments, overrides }: RenderContext,
): RenderedPrompt<Output> {
  const { outline, name: promptName } = template;
  const toolsOf = (placed: Placed) =>
    attempt(placed, "its tools failed", () => placed.section.tools()).map((tool) =>
      overridden(tool, overrides.tools.get(tool.name)),
    );
  const shown = shownSections(outline, { promptName, params, session });
  const open = shown.filter(({ as }) => as === "full").map(({ placed }) => placed);
  const texts = { params, bodies: overrides.bodies, toolsOf };
  const fullText = (placed: Placed) => {
    const below = outline.filter((one) => isWithin(one, placed));
    const inFull = shownSections(below, { promptName, params, session }, placed);
    return sectionsText(inFull, texts);
  };
  const hostedTools = open.flatMap((placed) => [
    ...attempt(placed, "its hostedTools failed", () => placed.section.hostedTools()),
    ...toolsOf(placed).flatMap(projectedTool),
  ]);
  return Object.freeze({
    promptName,
    text: sectionsText(shown, texts),
    tools: Object.freeze([
      ...open.flatMap(toolsOf),
      ...(open.length < shown.length ? disclosureTools({ outline, shown, fullText }) : []),
    ]),
    hostedTools: Object.freeze(hostedTools),
    nativeTools: deepFreeze(hostedTools.map(envelopeOf)),
    policies: policiesOf(template, open, toolsOf),
    providers: providersOf(open),
    outputSchema: template.output?.jsonSchema ?? null,
    output: template.output,
    attachments,
    // Hashes of all texts: worked out only for those who ask.
    get descriptor() {
      return template.descriptor;
    },
  });
}

/** A hosted tool in no provider's words. */
export function envelopeOf({ name, kind, config }: HostedTool): NativeToolEnvelope {
  return { type: "built_in", name, kind, config };
}

function overridden(tool: Tool, override: ToolOverride | undefined): Tool {
  if (!override) return tool;
  return tool.described(override.description ?? tool.description, override.paramDescriptions);
}

function providersOf(open: readonly Placed[]): ReadonlyMap<string, string> {
  return new Map(
    open.flatMap(({ path, section }) =>
      section.provider === null ? [] : [[path, section.provider]],
    ),
  );
}

/** The tool's own, then its section's, then the template's. */
function policiesOf(
  { policies }: PromptTemplate<unknown>,
  open: readonly Placed[],
  toolsOf: (placed: Placed) => readonly Tool[],
): ReadonlyMap<string, readonly ToolPolicy[]> {
  return new Map(
    open.flatMap((placed) =>
      toolsOf(placed).map((tool) => [
        tool.name,
        [...tool.policies, ...placed.section.policies, ...policies],
      ]),
    ),
  );
}

function isWithin(placed: Placed, top: Placed): boolean {
  for (let one: Placed | null = placed; one; one = one.parent) if (one === top) return true;
  return false;
}

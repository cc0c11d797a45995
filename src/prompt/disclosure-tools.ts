import { quoteNames } from "../base/quote-value.ts";
import { plainSchema } from "../base/schema/plain-schema.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { PlacedSection } from "./outline.ts";
import { hasTools } from "./outline.ts";
import type { VisibleSection } from "./render-sections.ts";

export interface DisclosureContext {
  readonly outline: readonly PlacedSection[];
  readonly visible: readonly VisibleSection[];
  /** Returns the full text of a section and its children. */
  renderFullText(placed: PlacedSection): string;
}

/**
 * Creates the tools with which the model opens and reads summarized sections; none if no section is
 * summarized.
 */
export function disclosureTools(context: DisclosureContext): readonly Tool[] {
  const summarized = context.visible
    .filter(({ visibility }) => visibility === "summary")
    .map(({ placed }) => placed);
  return [
    ...(summarized.some(hasTools) ? [openSectionsTool(context, summarized)] : []),
    ...(summarized.some((placed) => !hasTools(placed))
      ? [readSectionTool(context, summarized)]
      : []),
  ];
}

function openSectionsTool(
  { outline }: DisclosureContext,
  summarized: readonly PlacedSection[],
): Tool {
  return new Tool({
    name: "open_sections",
    effects: "none",
    description: "Opens summarized sections: later prompts show them in full, with their tools.",
    params: plainSchema({
      section_keys: {
        type: "strings",
        description: "Keys of the sections, as given in their notes.",
      },
      reason: { type: "string", description: "Why they are needed." },
    }),
    acceptsOverrides: false,
    handler: ({ section_keys: keys }, { session, prompt }) => {
      const closed = keys.filter((key) => summarized.some(({ path }) => path === key));
      const unknown = keys.filter((key) => !outline.some(({ path }) => path === key));
      if (unknown.length > 0) return ToolResult.error(describeUnknownSections(unknown, summarized));
      if (closed.length === 0) return ToolResult.error("These sections are not summarized.");
      for (const path of closed) {
        const about = { sessionId: session.id, promptName: prompt.name, path };
        session.dispatch({ type: "VisibilityChanged", ...about, visibility: "full" });
      }
      return ToolResult.ok(null, `Opened ${quoteNames(closed)}: read the prompt again.`);
    },
  });
}

function readSectionTool(context: DisclosureContext, summarized: readonly PlacedSection[]): Tool {
  return new Tool({
    name: "read_section",
    effects: "none",
    description: "Reads a summarized section in full, once.",
    params: plainSchema({
      section_key: { type: "string", description: "The section's key, as given in its note." },
    }),
    acceptsOverrides: false,
    handler: ({ section_key: key }) => {
      const placed = context.outline.find(({ path }) => path === key);
      if (!placed) return ToolResult.error(describeUnknownSections([key], summarized));
      if (!summarized.includes(placed))
        return ToolResult.error(`"${key}" is already shown in full.`);
      return ToolResult.ok(null, context.renderFullText(placed));
    },
  });
}

function describeUnknownSections(
  keys: readonly string[],
  summarized: readonly PlacedSection[],
): string {
  return `Unknown section ${quoteNames(keys)}. Summarized sections: ${quoteNames(summarized.map(({ path }) => path))}.`;
}

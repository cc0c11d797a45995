import { plainSchema } from "../base/schema/plain-schema.ts";
import { list } from "../base/show.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { Placed } from "./outline.ts";
import { hasTools } from "./outline.ts";
import type { Shown } from "./shown-sections.ts";

export interface DisclosureContext {
  readonly outline: readonly Placed[];
  readonly shown: readonly Shown[];
  /** A section and what is below it, as they would read in full. */
  fullText(placed: Placed): string;
}

/** What the model opens and reads summarised sections by; none if nothing is summarised. */
export function disclosureTools(context: DisclosureContext): readonly Tool[] {
  const summarised = context.shown.filter(({ as }) => as === "summary").map(({ placed }) => placed);
  return [
    ...(summarised.some(hasTools) ? [openSections(context, summarised)] : []),
    ...(summarised.some((placed) => !hasTools(placed)) ? [readSection(context, summarised)] : []),
  ];
}

function openSections({ outline }: DisclosureContext, summarised: readonly Placed[]): Tool {
  return new Tool({
    name: "open_sections",
    description:
      "Opens summarised sections: they are shown in full, with their tools, from now on.",
    params: plainSchema({
      section_keys: {
        type: "strings",
        description: "Keys of the sections, as given in their notes.",
      },
      reason: { type: "string", description: "Why they are needed." },
    }),
    acceptsOverrides: false,
    handler: ({ section_keys: keys }, { session, prompt }) => {
      const closed = keys.filter((key) => summarised.some(({ path }) => path === key));
      const unknown = keys.filter((key) => !outline.some(({ path }) => path === key));
      if (unknown.length > 0) return ToolResult.error(noSuchSection(unknown, summarised));
      if (closed.length === 0) return ToolResult.error("None of these sections is summarised.");
      for (const path of closed) {
        const about = { sessionId: session.id, promptName: prompt.name, path };
        session.dispatch({ type: "VisibilityChanged", ...about, visibility: "full" });
      }
      return ToolResult.ok(null, `Opened ${list(closed)}: read the prompt again.`);
    },
  });
}

function readSection(context: DisclosureContext, summarised: readonly Placed[]): Tool {
  return new Tool({
    name: "read_section",
    description: "Reads a summarised section in full, once.",
    params: plainSchema({
      section_key: { type: "string", description: "The section's key, as given in its note." },
    }),
    acceptsOverrides: false,
    handler: ({ section_key: key }) => {
      const placed = context.outline.find(({ path }) => path === key);
      if (!placed) return ToolResult.error(noSuchSection([key], summarised));
      if (!summarised.includes(placed))
        return ToolResult.error(`"${key}" is shown in full already.`);
      return ToolResult.ok(null, context.fullText(placed));
    },
  });
}

function noSuchSection(keys: readonly string[], summarised: readonly Placed[]): string {
  return `There is no section ${list(keys)}. Summarised are ${list(summarised.map(({ path }) => path))}.`;
}

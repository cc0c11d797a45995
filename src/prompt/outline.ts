import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { MessageRole } from "./message-role.ts";
import type { Section } from "./section.ts";

/** A section and its place in the template. */
export interface PlacedSection {
  readonly section: Section;
  readonly parent: PlacedSection | null;
  /** Depth of the section; 0 at the root. */
  readonly depth: number;
  /** Keys from the root, joined by dots, such as `"task.limits"`. */
  readonly path: string;
  /**
   * Number of the section, such as `"2.1"` for the first child of the second section. Disabled
   * sections count.
   */
  readonly number: string;
  /** Who speaks in the section: the role of the top-level section that contains it. */
  readonly role: MessageRole;
}

/**
 * Lists sections depth first: a section, then its children. Text and tools appear in this order.
 */
export function createOutline(
  sections: readonly Section[],
  parent: PlacedSection | null = null,
): readonly PlacedSection[] {
  return sections.flatMap((section, index) => {
    const placed: PlacedSection = Object.freeze({
      section,
      parent,
      depth: parent ? parent.depth + 1 : 0,
      path: parent ? `${parent.path}.${section.key}` : section.key,
      number: parent ? `${parent.number}.${index + 1}` : `${index + 1}`,
      role: parent ? parent.role : (section.role ?? "system"),
    });
    return [placed, ...createOutline(section.children, placed)];
  });
}

/** The params of each section of a template, validated by its own schema. */
export type BoundParams = ReadonlyMap<PlacedSection, object>;

/** Returns whether a section or any of its children has tools. */
export function hasTools({ section }: Pick<PlacedSection, "section">): boolean {
  return (
    section.tools().length + section.hostedTools().length > 0 ||
    section.children.some((child) => hasTools({ section: child }))
  );
}

/** A section with the tools it returned. */
export interface SectionTools extends PlacedSection {
  readonly tools: readonly Tool[];
  readonly hostedTools: readonly HostedTool[];
}

/** Lists the tools of each section. The sections are asked once. */
export function listSectionTools(outline: readonly PlacedSection[]): readonly SectionTools[] {
  return outline.map((placed) => ({
    ...placed,
    tools: placed.section.tools(),
    hostedTools: placed.section.hostedTools(),
  }));
}

/** Names of the tools that the library itself offers to the model. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["open_sections", "read_section"]);

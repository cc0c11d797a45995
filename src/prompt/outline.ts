import type { Section } from "./section.ts";

/** A section where it stands. */
export interface Placed {
  readonly section: Section;
  readonly parent: Placed | null;
  /** 0 at the root. */
  readonly depth: number;
  /** Keys from the root, joined by dots: `"task.limits"`. */
  readonly path: string;
  /** `"2.1"` for the first child of the second section, whoever is disabled. */
  readonly number: string;
}

/** Depth first: a section, then its children, so text and tools come in reading order. */
export function outlineOf(
  sections: readonly Section[],
  parent: Placed | null = null,
): readonly Placed[] {
  return sections.flatMap((section, index) => {
    const placed: Placed = Object.freeze({
      section,
      parent,
      depth: parent ? parent.depth + 1 : 0,
      path: parent ? `${parent.path}.${section.key}` : section.key,
      number: parent ? `${parent.number}.${index + 1}` : `${index + 1}`,
    });
    return [placed, ...outlineOf(section.children, placed)];
  });
}

/** What each section of a template was given, validated by its own schema. */
export type BoundParams = ReadonlyMap<Placed, object>;

/** Whether opening a section gives the model something to call. */
export function hasTools({ section }: Pick<Placed, "section">): boolean {
  return (
    section.tools().length + section.hostedTools().length > 0 ||
    section.children.some((child) => hasTools({ section: child }))
  );
}

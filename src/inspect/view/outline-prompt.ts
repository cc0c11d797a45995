/** A section of a prompt: a heading, its text, and the sections below it. */
export interface PromptSection {
  readonly title: string;
  readonly text: string;
  readonly children: readonly PromptSection[];
}

interface OpenSection {
  readonly level: number;
  readonly title: string;
  readonly lines: string[];
  readonly children: OpenSection[];
}

/** Reads the tree of a prompt's sections from its Markdown headings. Headings in code are text. */
export function outlinePrompt(text: string): PromptSection {
  const root: OpenSection = { level: 0, title: "", lines: [], children: [] };
  const open = [root];
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const [mark] = /^ {0,3}(?:```+|~~~+)/.exec(line) ?? [];
    if (mark) fence = fence === null ? mark.trim() : line.trim().startsWith(fence) ? null : fence;
    const heading = fence === null ? /^(#{1,6})\s+(.*)$/.exec(line) : null;
    if (!heading) {
      open.at(-1)?.lines.push(line);
      continue;
    }
    const level = heading[1]?.length ?? 1;
    while (open.length > 1 && (open.at(-1)?.level ?? 0) >= level) open.pop();
    const section = { level, title: heading[2]?.trim() ?? "", lines: [], children: [] };
    open.at(-1)?.children.push(section);
    open.push(section);
  }
  return closeSection(root);
}

function closeSection({ title, lines, children }: OpenSection): PromptSection {
  return { title, text: lines.join("\n").trim(), children: children.map(closeSection) };
}

/** A part of a text, with the number of the citation that marks it. */
export interface TextPart {
  readonly text: string;
  /** Index of the citation; `null` for text without one. */
  readonly citation: number | null;
}

/** A citation with its place in the text, as an event has it. */
export interface SpannedCitation {
  readonly span?: unknown;
}

/**
 * Splits a text at the spans of its citations, which are UTF-16 positions `[start, end)`. Spans outside of the text are
 * ignored, and of overlapping ones the first is marked.
 */
export function splitCitations(
  text: string,
  citations: readonly SpannedCitation[],
): readonly TextPart[] {
  const spans = citations
    .flatMap(({ span }, citation) => {
      const [start, end] = Array.isArray(span) ? span : [];
      const isPlace = Number.isSafeInteger(start) && Number.isSafeInteger(end);
      return isPlace && start >= 0 && end > start && end <= text.length
        ? [{ start, end, citation }]
        : [];
    })
    .sort((one, other) => one.start - other.start);
  const parts: TextPart[] = [];
  let at = 0;
  for (const { start, end, citation } of spans) {
    if (start < at) continue;
    if (start > at) parts.push({ text: text.slice(at, start), citation: null });
    parts.push({ text: text.slice(start, end), citation });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), citation: null });
  return parts;
}

/** Renders a Markdown table. Numbers are in all columns but the first, so they are aligned to the right. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

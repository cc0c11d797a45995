/** Reads a table of numbered names: each line is the number of its first name, and the names that follow count up from it. */
export function readTable(text: string): ReadonlyMap<string, number> {
  const table = new Map<string, number>();
  for (const line of text.trim().split("\n")) {
    const [first, ...names] = line.split(" ");
    names.forEach((name, index) => {
      table.set(name, Number(first) + index);
    });
  }
  return table;
}

import { CLIENTS, type Client, FEATURES } from "./clients.ts";

/** Returns whether a client's test of a feature passed. */
export type Verdict = (client: string, feature: string) => boolean;

const BEGIN = "<!-- clients:begin -->";
const END = "<!-- clients:end -->";

/** Replaces the table between the guide's markers. */
export function replaceTable(guide: string, hasPassed: Verdict): string {
  const [begin, end] = findTable(guide);
  return `${guide.slice(0, begin)}\n\n${renderTable(hasPassed)}\n\n${guide.slice(end)}`;
}

/** Returns a client's cells in the guide, by feature: `"yes"`, or the reason in the footnote. */
export function readColumn(guide: string, client: string): Readonly<Record<string, string>> {
  const [begin, end] = findTable(guide);
  const lines = guide.slice(begin, end).split("\n");
  const notes = new Map(lines.flatMap((line) => readNote(line)));
  const cells = new Map<string, string>();
  let column = -1;
  for (const line of lines.filter((one) => one.startsWith("|"))) {
    const [, ...row] = line.split("|").map((cell) => cell.trim());
    const [feature = ""] = row;
    if (feature === "feature") column = row.indexOf(`\`${client}\``);
    else if (column > 0 && !feature.startsWith("-")) cells.set(feature, row[column] ?? "");
  }
  return Object.fromEntries(
    [...cells].map(([feature, cell]) => [feature, notes.get(cell) ?? cell] as const),
  );
}

function readNote(line: string): readonly (readonly [string, string])[] {
  const [, number, reason = ""] = /^(\d+)\. (.*)$/.exec(line) ?? [];
  return number === undefined ? [] : [[`no (${number})`, reason]];
}

function findTable(guide: string): readonly [begin: number, end: number] {
  const [begin, end] = [guide.indexOf(BEGIN), guide.indexOf(END)];
  if (begin === -1 || end < begin)
    throw new Error(`The guide must have the lines ${BEGIN} and ${END}. Add them.`);
  return [begin + BEGIN.length, end];
}

function renderTable(hasPassed: Verdict): string {
  const notes: string[] = [];
  const head = ["feature", ...CLIENTS.map(({ name }) => `\`${name}\``)];
  const rows = FEATURES.map((feature) => [
    feature,
    ...CLIENTS.map((client) => renderCell(client, feature, { hasPassed, notes })),
  ]);
  const all = [head, head.map(() => "---"), ...rows];
  const table = all.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  return `${table}\n\n${notes.map((reason, place) => `${place + 1}. ${reason}`).join("\n")}`;
}

function renderCell(
  { name, missing }: Client,
  feature: string,
  { hasPassed, notes }: { readonly hasPassed: Verdict; readonly notes: string[] },
): string {
  if (hasPassed(name, feature)) return "yes";
  const reason = missing[feature];
  if (reason === undefined)
    throw new Error(`"${feature}" of ${name} has neither a passed test nor a reason. Add one.`);
  if (!notes.includes(reason)) notes.push(reason);
  return `no (${notes.indexOf(reason) + 1})`;
}

import type { Run, RunState } from "../../fleet/run.ts";
import { formatAge } from "../format-duration.ts";
import { formatNumber } from "../pluralize.ts";
import { style } from "../style.ts";
import { toLine } from "../to-line.ts";

/** How a table is printed. */
export interface TableFormat {
  /** The time now, in milliseconds. */
  readonly now: number;
  /** Width of the terminal; `undefined` if the output is not one, and lines may be long. */
  readonly columns?: number | undefined;
}

/** Yields a header and a line per run: id, loop, state, attempt, age, tokens, key and a note. */
export function* formatRunTable(runs: readonly Run[], format: TableFormat): Generator<string> {
  const idLength = findIdLength(runs);
  const columns = COLUMNS.filter(({ isUsed }) => isUsed?.(runs) ?? true);
  const rows = runs.map((run) => columns.map(({ read }) => read(run, format.now)));
  const lengths = columns.map(({ title }, index) => {
    return Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0));
  });
  const join = (id: string, cells: readonly string[], last: string) => {
    const padded = cells.map((cell, index) => {
      const length = lengths[index] ?? 0;
      return columns[index]?.isNumber ? cell.padStart(length) : cell.padEnd(length);
    });
    return [id.padEnd(idLength), ...padded, last].join("  ").trimEnd();
  };
  const titles = columns.map(({ title }) => title);
  yield style.dim(join("ID", titles, ""));
  const used = idLength + lengths.reduce((sum, length) => sum + length + 2, 0) + 2;
  const room = format.columns === undefined ? undefined : Math.max(20, format.columns - used);
  for (const [index, run] of runs.entries()) {
    const note = toLine(describeWait(run, format.now), room);
    const line = join(run.id.slice(0, idLength), rows[index] ?? [], note);
    yield line.replace(` ${run.state} `, ` ${styleState(run.state)} `);
  }
}

/** Colors a state: red for a run that needs attention, yellow for one that waits for a person. */
export function styleState(state: RunState): string {
  if (state === "failed" || state === "dead-lettered") return style.red(state);
  if (state === "parked") return style.yellow(state);
  return state === "running" ? style.green(state) : state;
}

/** Describes why a run waits or has ended. Empty if its state says it all. */
export function describeWait(run: Run, now: number): string {
  const { state, approvals, error, cancelReason, notBefore } = run;
  if (state === "done") return "";
  if (state === "cancelled") return cancelReason ?? "";
  if (state === "running" && cancelReason !== null) return `is being cancelled: ${cancelReason}`;
  if (approvals.length > 0) {
    return `waits for approval of ${approvals.map(({ name }) => name).join(", ")}`;
  }
  const problem = error === null ? "" : `${error.name}: ${error.message}`;
  if (state === "parked") return `paused by the provider: ${problem}`;
  if (problem !== "") return problem;
  const isLater = state === "waiting" && notBefore !== null && Date.parse(notBefore) > now;
  return isLater ? `not before ${notBefore}` : "";
}

/** Returns the first characters of an id that the command line accepts for it. */
export function shortenId(id: string): string {
  return id.slice(0, MIN_ID_LENGTH);
}

interface Column {
  readonly title: string;
  readonly isNumber?: true;
  read(run: Run, now: number): string;
  /** Whether the column is printed. @default always */
  isUsed?(runs: readonly Run[]): boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "LOOP", read: ({ loop, version }) => toLine(`${loop}/${version}`) },
  { title: "STATE", read: ({ state }) => state },
  { title: "ATTEMPT", isNumber: true, read: ({ attempt }) => String(attempt) },
  { title: "AGE", isNumber: true, read: ({ createdAt }, now) => formatAge(createdAt, now) },
  {
    title: "TOKENS",
    isNumber: true,
    read: ({ usage }) => (usage ? formatNumber(usage.totalTokens) : "-"),
  },
  {
    title: "KEY",
    read: ({ key }) => toLine(key ?? "-", MAX_KEY_LENGTH),
    isUsed: (runs) => runs.some(({ key }) => key !== null),
  },
];

const MIN_ID_LENGTH = 8;
const MAX_KEY_LENGTH = 24;

/** Returns how many characters of the ids tell them apart. */
function findIdLength(runs: readonly Run[]): number {
  for (let length = MIN_ID_LENGTH; ; length++) {
    const ids = new Set(runs.map(({ id }) => id.slice(0, length)));
    if (ids.size === runs.length || length >= 36) return length;
  }
}

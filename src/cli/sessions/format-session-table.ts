import { escapeControls } from "../escape-controls.ts";
import { formatNumber } from "../pluralize.ts";
import { style } from "../style.ts";
import { toLine } from "../to-line.ts";
import { formatTime } from "./format-time.ts";
import { formatUsd } from "./format-usd.ts";
import type { ReportedState } from "./read-session.ts";
import type { SessionRow } from "./session-row.ts";

/** Yields a header and a line per session. `width` is the terminal's; without one, lines may be long. */
export function* formatSessionTable(
  rows: readonly SessionRow[],
  width: number | undefined,
): Generator<string> {
  const cells = rows.map((row) => COLUMNS.map(({ read }) => read(row)));
  const lengths = COLUMNS.map(({ title }, index) => {
    return cells.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), title.length);
  });
  const pad = (line: readonly string[]) =>
    line.map((cell, index) => {
      const length = lengths[index] ?? 0;
      return COLUMNS[index]?.isNumber ? cell.padStart(length) : cell.padEnd(length);
    });
  yield style.dim(
    pad(COLUMNS.map(({ title }) => title))
      .join("  ")
      .trimEnd(),
  );
  const used = lengths.reduce((sum, length) => sum + length + 2, 0);
  const room = width === undefined ? undefined : Math.max(20, width - used);
  for (const [index, { state, problem }] of rows.entries()) {
    const padded = pad(cells[index] ?? []).map((cell, column) =>
      COLUMNS[column]?.title === "STATE" ? cell.replace(state, styleState(state)) : cell,
    );
    yield [...padded, toLine(problem ?? "", room)].join("  ").trimEnd();
  }
}

/** Colors a state: red for a session that needs attention, yellow for one that waits for a person. */
export function styleState(state: ReportedState): string {
  if (state === "failed" || state === "damaged") return style.red(state);
  if (state === "parked") return style.yellow(state);
  return state === "open" ? style.green(state) : state;
}

interface Column {
  readonly title: string;
  readonly isNumber?: true;
  read(row: SessionRow): string;
}

const COLUMNS: readonly Column[] = [
  { title: "ID", read: ({ id }) => escapeControls(id) },
  { title: "STATE", read: ({ state }) => state },
  { title: "STARTED (UTC)", read: ({ startedAt }) => toMinute(startedAt) },
  { title: "LAST ACTIVITY", read: ({ lastActivityAt }) => toMinute(lastActivityAt) },
  { title: "EVALUATIONS", isNumber: true, read: ({ evaluations }) => formatNumber(evaluations) },
  { title: "TURNS", isNumber: true, read: ({ turns }) => formatNumber(turns) },
  { title: "TOKENS", isNumber: true, read: ({ usage }) => formatNumber(usage.totalTokens) },
  { title: "COST", isNumber: true, read: ({ costUsd }) => formatUsd(costUsd) },
];

function toMinute(time: string | null): string {
  return formatTime(time).slice(0, 16);
}

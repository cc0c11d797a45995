import { formatRatio } from "../report/format-number.ts";
import { renderTable } from "../report/render-table.ts";
import type { CheckedRow } from "./check-ratios.ts";

const REMEDY =
  "Find the commit that made it slower. If the cost is intended, record again with `npm run bench` and explain it in the commit.";

/** Renders the table of a check. */
export function renderCheck(rows: readonly CheckedRow[]): string {
  return renderTable(
    ["row", "recorded", "measured", ""],
    rows.map(({ row, recorded, measured, isPassed }) => [
      row.what,
      recorded === undefined ? "–" : formatRatio(recorded),
      formatRatio(measured),
      isPassed ? "" : "worse",
    ]),
  );
}

/** Explains a row that did not pass. */
export function explainRow({ row, recorded, measured }: CheckedRow, tolerance: number): string {
  if (recorded === undefined) {
    return `"${row.what}" has no recorded ratio. Record it with \`npm run bench\`.`;
  }
  const worse = (100 * (measured / recorded - 1)).toFixed(0);
  return `"${row.what}" is ${worse} % worse than recorded (at most ${100 * tolerance} %): ${formatRatio(recorded)} was recorded, ${formatRatio(measured)} was measured. ${REMEDY}`;
}

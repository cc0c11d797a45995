import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { compareSessions, readCreation } from "../../inspect/sources/store-source.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { formatNumber, pluralize } from "../pluralize.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import { style } from "../style.ts";
import type { StoreChoice } from "./add-store-options.ts";
import { formatSessionTable } from "./format-session-table.ts";
import { readSession } from "./read-session.ts";
import { type SessionRow, toSessionRow } from "./session-row.ts";
import type { ListSessionsOptions } from "./sessions-actions.ts";
import { useStore } from "./use-store.ts";
import { writeOutput } from "./write-output.ts";

/** Prints sessions, the newest first. Only their ids and dates are in memory at once. */
export async function listSessions(
  choice: StoreChoice,
  options: ListSessionsOptions,
): Promise<void> {
  await useStore(choice, async (store) => {
    const ids = await listNewest(store, process.stderr);
    if (options.json) await printJson(store, ids.slice(0, options.limit));
    else await printTable(store, ids, options);
  });
}

/** Lists all ids, the newest session first. */
async function listNewest(store: SessionStore, terminal: Terminal): Promise<readonly string[]> {
  const ids = await store.list();
  const progress = new ProgressLine(terminal);
  progress.show(`Reading ${pluralize(ids.length, "session")} …`);
  try {
    const dated: { id: string; createdAt: string | null; run: null }[] = [];
    const addDated = async (id: string) => {
      dated.push({ id, createdAt: await readCreation(store, id), run: null });
    };
    await forEachConcurrently(ids, addDated, { concurrency: 8 });
    return dated.sort(compareSessions).map(({ id }) => id);
  } finally {
    progress.clear();
  }
}

async function printJson(store: SessionStore, ids: readonly string[]): Promise<void> {
  let before = "[\n  ";
  for (const id of ids) {
    const row = await readRow(store, id);
    if (!row) continue;
    await writeOutput(`${before}${JSON.stringify(row)}`);
    before = ",\n  ";
  }
  await writeOutput(before.startsWith("[") ? "[]\n" : "\n]\n");
}

async function printTable(
  store: SessionStore,
  ids: readonly string[],
  { limit = DEFAULT_LIMIT, screen = process.stdout }: ListSessionsOptions,
): Promise<void> {
  const rows: SessionRow[] = [];
  for (const id of ids.slice(0, limit)) {
    const row = await readRow(store, id);
    if (row) rows.push(row);
  }
  const columns = screen.isTTY ? screen.columns : undefined;
  if (rows.length > 0) for (const line of formatSessionTable(rows, columns)) console.log(line);
  else if (screen.isTTY) console.log("No sessions.");
  const more = ids.length - limit;
  if (more > 0) {
    console.log(style.dim(`… and ${formatNumber(more)} more (use --limit to show them)`));
  }
}

const DEFAULT_LIMIT = 20;

/** Returns `null` for a session that was deleted in the meantime. */
async function readRow(store: SessionStore, id: string): Promise<SessionRow | null> {
  const report = await readSession(store, id);
  const isGone = report.summary.records === 0 && report.state !== "damaged";
  return isGone ? null : toSessionRow(report);
}

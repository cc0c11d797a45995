import type { StoreChoice } from "./add-store-options.ts";
import { checkSession } from "./check-session.ts";
import { formatSession } from "./format-session.ts";
import { readSession, type SessionReport } from "./read-session.ts";
import { toSessionRow } from "./session-row.ts";
import type { ShowSessionOptions } from "./sessions-actions.ts";
import { useStore } from "./use-store.ts";
import { writeOutput } from "./write-output.ts";

/** Prints a session: its totals, timeline, files, notices and answer. */
export async function showSession(
  choice: StoreChoice,
  { id, json }: ShowSessionOptions,
): Promise<void> {
  await useStore(choice, async (store) => {
    await checkSession(store, id);
    const report = await readSession(store, id);
    if (json) return await writeOutput(`${JSON.stringify(toDocument(report), null, 2)}\n`);
    for (const line of formatSession(report, Date.now())) await writeOutput(`${line}\n`);
  });
}

/** Returns the document of `--json`: the row of `ls`, and what the inspector knows in addition. */
function toDocument(report: SessionReport): object {
  const { summary, entries } = report;
  const { prompt, input, answer, tools, files, highlights, egress, records } = summary;
  return {
    ...toSessionRow(report),
    ...{ prompt: prompt?.text ?? null, input, answer, tools, files },
    ...{ notices: highlights, egress, records, entries },
  };
}

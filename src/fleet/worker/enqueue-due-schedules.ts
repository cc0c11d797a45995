import { isPlainObject } from "../../base/freeze.ts";
import { warn } from "../../base/warn.ts";
import type { DueSchedule } from "../dispatch.ts";
import { insertRun } from "../enqueue-run.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { parseScheduled } from "../scheduled-request.ts";
import { getQueueName } from "../tables/run-table.ts";

/**
 * Enqueues the requests of schedules that are due. The run and the schedule's job are settled together. One that fails
 * does not keep the others from being enqueued; its job is tried again.
 */
export async function enqueueDueSchedules(
  parts: Pick<FleetParts, "database" | "dispatch" | "runs">,
): Promise<void> {
  const problems: unknown[] = [];
  for (const due of await parts.dispatch.fetchDue()) {
    await enqueueDue(parts, due).catch((error: unknown) => problems.push(error));
  }
  if (problems.length > 0) throw problems[0];
}

async function enqueueDue(
  parts: Pick<FleetParts, "database" | "dispatch" | "runs">,
  due: DueSchedule,
): Promise<void> {
  const { database, dispatch } = parts;
  const scheduled = isPlainObject(due.data) ? parseScheduled(due.data) : null;
  if (scheduled) await dispatch.ensureQueue(getQueueName(scheduled));
  else warn("A schedule was skipped", new FleetError("Its request is damaged. Schedule it again."));
  await database.transact(async (sql) => {
    if (!(await dispatch.completeDue(sql, due)) || !scheduled) return;
    const { name, priority, group } = scheduled;
    const options = { key: `schedule ${name} at ${due.slot}`, priority, group };
    await insertRun({ ...parts, maxWaiting: undefined }, sql, scheduled, options);
    await parts.runs.notify(sql, { type: "wake" });
  });
}

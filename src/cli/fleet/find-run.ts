import { WinkError } from "../../base/errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { Run } from "../../fleet/run.ts";
import type { RunTable } from "../../fleet/tables/run-table.ts";
import { formatAge } from "../format-duration.ts";

/** Finds the run whose id starts with a prefix. Throws if there is none, or more than one. */
export async function findRun(
  { fleet, runs }: { readonly fleet: Fleet; readonly runs: RunTable },
  prefix: string,
): Promise<Run> {
  const found = await fleet.transact((sql) => runs.findByPrefix(sql, prefix, MAX_CANDIDATES + 1));
  const [run, ...others] = found;
  if (!run) {
    const remedy = "List the runs with wink fleet ls; those that ended long ago are deleted";
    throw new WinkError(`No run has an id that starts with ${JSON.stringify(prefix)}. ${remedy}.`);
  }
  if (others.length === 0) return run;
  const now = Date.now();
  const lines = found.slice(0, MAX_CANDIDATES).map(({ id, loop, state, createdAt }) => {
    return `  ${id} ${loop} ${state}, ${formatAge(createdAt, now)} old`;
  });
  const more = found.length > MAX_CANDIDATES ? ["  … and others"] : [];
  const what = `Several runs start with ${JSON.stringify(prefix)}. Use more characters of one of them:`;
  throw new WinkError([what, ...lines, ...more].join("\n"));
}

const MAX_CANDIDATES = 5;

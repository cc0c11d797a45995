import { WinkError } from "../../base/errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { isOver, type Run } from "../../fleet/run.ts";
import { escapeControls } from "../escape-controls.ts";
import { ProgressLine } from "../progress-line.ts";
import { style } from "../style.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { findRun } from "./find-run.ts";
import type { ShowOptions } from "./fleet-actions.ts";
import { formatEvent } from "./format-event.ts";
import { formatEnd, formatRun } from "./format-run.ts";
import { useFleet } from "./use-fleet.ts";

/** Prints a run with its events. */
export async function showRun(choice: FleetChoice, options: ShowOptions): Promise<void> {
  await useFleet(choice, async (opened) => {
    const { fleet, isShared } = opened;
    const run = await findRun(opened, options.run);
    const isFollowed = options.follow && !isOver(run.state);
    if (options.json) console.log(JSON.stringify(await addResult(fleet, run)));
    else for (const line of formatRun(run, Date.now())) console.log(line);
    await printEvents(fleet, run, { ...options, follow: isFollowed && isShared });
    if (isFollowed && !isShared) throw createFolderError(run);
    if (isFollowed || !options.json) await printEnd(fleet, run, { ...options, isFollowed });
  });
}

async function printEvents(fleet: Fleet, run: Run, options: ShowOptions): Promise<void> {
  const { json, follow, terminal = process.stderr } = options;
  const progress = new ProgressLine(terminal);
  const showWaiting = () => {
    if (follow) progress.show("Waiting for the next event (press Ctrl-C to stop) …");
  };
  if (!json) console.log(`\n${style.bold("Events")} ${style.dim("(times in UTC)")}`);
  showWaiting();
  let count = 0;
  try {
    for await (const event of fleet.follow(run.id, { wait: follow })) {
      progress.clear();
      console.log(json ? JSON.stringify({ event }) : formatEvent(event));
      showWaiting();
      count += 1;
    }
  } finally {
    progress.clear();
  }
  if (count === 0 && !json) console.log("none");
}

/** Prints the result, and how a run that was followed has ended. */
async function printEnd(
  fleet: Fleet,
  { id }: Run,
  { json, isFollowed }: { readonly json: boolean; readonly isFollowed: boolean },
): Promise<void> {
  const run = await fleet.find(id);
  if (!run) return; // it was deleted in this moment
  const end = await addResult(fleet, run);
  if (json) {
    console.log(JSON.stringify(end));
    return;
  }
  if (isFollowed) for (const line of formatEnd(run)) console.log(line);
  if (!("result" in end)) return;
  const { result } = end;
  const text = typeof result === "string" ? result : JSON.stringify(result, null, 2);
  console.log(`\n${style.bold("Result")}`);
  for (const line of text.split("\n")) console.log(escapeControls(line));
}

/** Adds the result to a run that is done. */
async function addResult(fleet: Fleet, run: Run): Promise<{ run: Run; result?: unknown }> {
  return run.state === "done" ? { run, result: await fleet.result(run.id) } : { run };
}

function createFolderError({ id, state }: Run): WinkError {
  const what = `Run ${id} is ${state}, and no worker can continue it while this command has the folder open`;
  return new WinkError(`${what}. Omit --follow, or use PostgreSQL.`);
}

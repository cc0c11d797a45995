import { Command, Option } from "commander";
import { RUN_STATES, type RunState } from "../../fleet/run.ts";
import { parseCount, parseSeconds } from "../parse-count.ts";
import {
  addDirectOption,
  addFleetOptions,
  type DirectFlags,
  type FleetFlags,
  selectFleet,
  selectPooledFleet,
} from "./add-fleet-options.ts";
import {
  type FleetActions,
  RETRIED_STATES,
  type RetriedState,
  type RetryOptions,
} from "./fleet-actions.ts";
import { parseRunId } from "./parse-run-id.ts";

/** Creates `wink fleet` with its commands. */
export function createFleetCommand(actions: FleetActions): Command {
  const fleet = new Command("fleet")
    .description("watch and control the runs and workers of a fleet")
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet worker loops.mts\n  wink fleet ls --state dead-lettered\n  wink fleet show 3f2a91c0 --follow\n\nA fleet is in PostgreSQL, or in a folder, which one process at a time can use: commands on a folder fail while\na worker runs there. RUN is a run's id, or at least its first 4 characters.",
    );
  const commands = [
    createListCommand(actions.ls),
    createShowCommand(actions.show),
    createCancelCommand(actions.cancel),
    createRetryCommand(actions.retry),
    createApproveCommand(actions.approve),
    createWorkerCommand(actions.worker),
    createDrainCommand(actions.drain),
  ];
  for (const command of commands) fleet.addCommand(command);
  return fleet;
}

const RUN = "id of the run, or at least its first 4 characters";

function createListCommand(act: FleetActions["ls"]): Command {
  const command = new Command("ls")
    .description("list runs, the newest first")
    .addOption(new Option("--state <state>", "only runs in this state").choices(RUN_STATES))
    .option("--loop <name>", "only runs of this loop")
    .option("--group <name>", "only runs of this group")
    .option("--key <key>", "only the run with this key, of each loop")
    .option("--limit <number>", "how many runs to print (default: 20, all with --json)", parseCount)
    .option("--json", "print each run as one line of JSON");
  return addFleetOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet ls --state parked\n  wink fleet ls --json | jq 'select(.error) | {id, loop, error}'\n\nOn a terminal, the number of runs in each state and the workers follow.",
    )
    .action(async (flags: ListFlags) => {
      const choice = selectFleet(flags, command);
      const { state, loop, group, key, limit, json = false } = flags;
      await act(choice, { state, loop, group, key, limit, json });
    });
}

interface ListFlags extends FleetFlags {
  readonly state?: RunState;
  readonly loop?: string;
  readonly group?: string;
  readonly key?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

function createShowCommand(act: FleetActions["show"]): Command {
  const command = new Command("show")
    .description("show a run with its request, approvals, error, events and result")
    .argument("<run>", RUN, parseRunId)
    .option("--follow", "print events until the run ends")
    .option("--json", "print the run, then each event, as lines of JSON");
  return addFleetOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet show 3f2a91c0 --follow\n  wink fleet show 3f2a91c0 --json | jq -r 'select(.event.type == \"TurnCompleted\") | .event.text'\n\nWith --json, the first line is { run } (with the result if the run is done), and every other line { event }. With\n--follow, the last line is { run } again, as it has ended.",
    )
    .action(async (run: string, flags: ShowFlags) => {
      const choice = selectFleet(flags, command);
      const { json = false, follow = false } = flags;
      await act(choice, { run, json, follow });
    });
}

interface ShowFlags extends FleetFlags {
  readonly follow?: boolean;
  readonly json?: boolean;
}

function createCancelCommand(act: FleetActions["cancel"]): Command {
  const command = new Command("cancel")
    .description("cancel a run; the worker of one that runs aborts it")
    .argument("<run>", RUN, parseRunId)
    .option("--reason <text>", "why, for those who wait for its result")
    .option("--json", "print the run's id, state and worker as one line of JSON");
  return addFleetOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet cancel 3f2a91c0 --reason 'superseded by pr-14'\n\nExits with 1 if the run has already ended in another way.",
    )
    .action(async (run: string, flags: CancelFlags) => {
      const choice = selectFleet(flags, command);
      const { reason, json = false } = flags;
      await act(choice, { run, reason, json });
    });
}

interface CancelFlags extends FleetFlags {
  readonly reason?: string;
  readonly json?: boolean;
}

function createRetryCommand(act: FleetActions["retry"]): Command {
  const command = new Command("retry")
    .description(
      "start runs again that have ended without a result; they continue where they stopped",
    )
    .argument("[run]", RUN, parseRunId)
    .addOption(new Option("--state <state>", "all runs in this state").choices(RETRIED_STATES))
    .option("--loop <name>", "with --state: only runs of this loop")
    .option("--json", "print the ids of the runs as one line of JSON");
  return addFleetOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet retry 3f2a91c0\n  wink fleet retry --state dead-lettered --loop review\n\nWith --state it starts all of them, without a question.",
    )
    .action(async (run: string | undefined, flags: RetryFlags) => {
      const options = selectRuns(run, flags, command);
      const choice = selectFleet(flags, command);
      await act(choice, options);
    });
}

function selectRuns(
  run: string | undefined,
  { state, loop, json = false }: RetryFlags,
  command: Command,
): RetryOptions {
  if (loop !== undefined && state === undefined) {
    command.error("error: --loop must be used together with --state");
  }
  if (run !== undefined && state === undefined) return { run, json };
  if (run === undefined && state !== undefined) return { state, loop, json };
  command.error("error: pass either a run or --state");
}

interface RetryFlags extends FleetFlags {
  readonly state?: RetriedState;
  readonly loop?: string;
  readonly json?: boolean;
}

function createApproveCommand(act: FleetActions["approve"]): Command {
  const command = new Command("approve")
    .description("approve or deny a call that waits for a person; its run continues")
    .argument("<run>", RUN, parseRunId)
    .argument("[key]", "key of the call, if several wait (wink fleet show prints them)")
    .option("--deny", "deny the call instead; the model receives an error")
    .option("--json", "print the decision as one line of JSON");
  return addFleetOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet approve 3f2a91c0\n  wink fleet approve 3f2a91c0 2:call_7 --deny",
    )
    .action(async (run: string, key: string | undefined, flags: ApproveFlags) => {
      const choice = selectFleet(flags, command);
      const { deny = false, json = false } = flags;
      await act(choice, { run, key, deny, json });
    });
}

interface ApproveFlags extends FleetFlags {
  readonly deny?: boolean;
  readonly json?: boolean;
}

function createWorkerCommand(act: FleetActions["worker"]): Command {
  const command = new Command("worker")
    .description("run a worker until SIGTERM or SIGINT (Ctrl-C); it then gives its runs back")
    .argument(
      "<files...>",
      "modules that export AgentLoops: as default or named exports, or in arrays",
    )
    .option("--concurrency <number>", "how many runs at once (default: 4)", parseCount)
    .option("--per-group <number>", "how many runs of a group at once, on all workers", parseCount)
    .option("--grace <seconds>", "time from the signal to the end (default: 60)", parseSeconds)
    .option(
      "--keep-done-days <number>",
      "delete runs that ended longer ago, of all loops (default: none)",
      parseCount,
    )
    .option("--json", "print what happens as lines of JSON");
  return addDirectOption(addFleetOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  wink fleet worker loops.mts --concurrency 8\n  wink fleet worker review.mts summarize.mts --json | jq 'select(.error)'\n\nPrints a line when a run starts and ends. A second signal ends it at once: another worker then continues its runs.\nA pooler in transaction mode needs --direct or WINK_FLEET_DIRECT. Workers with a blob store of your own are programs.\nPrefer the variables WINK_FLEET_POSTGRES and WINK_FLEET_DIRECT: other users of this machine can see command lines.",
    )
    .action(async (files: readonly string[], flags: WorkerFlags) => {
      const choice = selectPooledFleet(flags, command);
      const { concurrency, perGroup, grace: graceMs, keepDoneDays, json = false } = flags;
      await act(choice, { files, concurrency, perGroup, graceMs, keepDoneDays, json });
      // A module may keep connections open. The worker has ended, and so must the process.
      setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
    });
}

const EXIT_TIMEOUT_MS = 1_000;

interface WorkerFlags extends DirectFlags {
  readonly concurrency?: number;
  readonly perGroup?: number;
  /** In milliseconds. */
  readonly grace?: number;
  readonly keepDoneDays?: number;
  readonly json?: boolean;
}

function createDrainCommand(act: FleetActions["drain"]): Command {
  const command = new Command("drain")
    .description("ask one worker, or all of them, to give their runs back and to end")
    .argument("[worker]", "number of the worker (wink fleet ls prints it)", parseCount)
    .option("--wait", "wait until they have ended")
    .option("--json", "print the numbers of the workers as one line of JSON");
  return addFleetOptions(command)
    .addHelpText("after", "\nExamples:\n  wink fleet drain --wait\n  wink fleet drain 3")
    .action(async (worker: number | undefined, flags: DrainFlags) => {
      const choice = selectFleet(flags, command);
      const { wait = false, json = false } = flags;
      await act(choice, { worker, wait, json });
    });
}

interface DrainFlags extends FleetFlags {
  readonly wait?: boolean;
  readonly json?: boolean;
}

import { Command } from "commander";
import { parseCount } from "../parse-count.ts";
import { addStoreOptions, type StoreFlags, selectStore } from "./add-store-options.ts";
import type { SessionsActions } from "./sessions-actions.ts";

/** Creates `wink sessions` with its commands. */
export function createSessionsCommand(actions: SessionsActions): Command {
  const sessions = new Command("sessions")
    .description("list, show, export and delete stored sessions")
    .addHelpText(
      "after",
      "\nExamples:\n  wink sessions ls --store ./sessions\n  wink sessions show nightly --store sessions.sqlite\n  wink sessions export nightly --store postgres://localhost/agents --out nightly.jsonl\n\nThe store is what your program uses: the folder of a JsonlSessionStore, the file of a SqliteSessionStore, or the\ndatabase of a PostgresSessionStore or a fleet. Other users of this machine can see command lines: set PGPASSWORD\ninstead of writing a password into the URL.",
    );
  const commands = [
    createListCommand(actions.ls),
    createShowCommand(actions.show),
    createExportCommand(actions.export),
    createRemoveCommand(actions.rm),
  ];
  for (const command of commands) sessions.addCommand(command);
  return sessions;
}

function createListCommand(act: SessionsActions["ls"]): Command {
  const command = new Command("ls")
    .description("list sessions, the newest first")
    .option(
      "--limit <number>",
      "how many sessions to print (default: 20, all with --json)",
      parseCount,
    )
    .option("--json", "print the sessions as one JSON array");
  return addStoreOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink sessions ls --store ./sessions\n  wink sessions ls --store ./sessions --json | jq '.[] | select(.state == \"failed\") | .id'\n\nStates: open (the last evaluation has no end: it runs, or was interrupted), parked (a call waits for approval), done,\nfailed, empty (no evaluation yet), damaged (the rest of the records cannot be read).",
    )
    .action(async (flags: ListFlags) => {
      const choice = selectStore(flags, command);
      await act(choice, { limit: flags.limit, json: flags.json ?? false });
    });
}

interface JsonFlag {
  readonly json?: boolean;
}

interface ListFlags extends StoreFlags, JsonFlag {
  readonly limit?: number;
}

function createShowCommand(act: SessionsActions["show"]): Command {
  const command = new Command("show")
    .description("show a session with its turns, calls, files, notices, costs and answer")
    .argument("<id>", ID)
    .option("--json", "print the session as one JSON document");
  return addStoreOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink sessions show nightly --store ./sessions\n  wink sessions show nightly --store ./sessions --json | jq -r .answer.text\n\nLong texts are shortened. wink inspect shows all of them.",
    )
    .action(async (id: string, flags: StoreFlags & JsonFlag) => {
      const choice = selectStore(flags, command);
      await act(choice, { id, json: flags.json ?? false });
    });
}

const ID = "id of the session (wink sessions ls prints it)";

function createExportCommand(act: SessionsActions["export"]): Command {
  const command = new Command("export")
    .description("print the records of a session as lines of JSON, as they are stored")
    .argument("<id>", ID)
    .option("--out <file>", "write them to this file, which only you can read")
    .option("--force", "with --out: replace an existing file");
  return addStoreOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink sessions export nightly --store sessions.sqlite --out nightly.jsonl\n  wink inspect nightly.jsonl\n  wink sessions export nightly --store ./sessions | jq -r '.event.type // .kind'\n\nThe file is that of a JsonlSessionStore: in its folder, under the session's id, it can be opened again.",
    )
    .action(async (id: string, flags: ExportFlags) => {
      const { out, force = false } = flags;
      if (force && out === undefined) {
        command.error("error: --force must be used together with --out");
      }
      await act(selectStore(flags, command), { id, out, force });
    });
}

interface ExportFlags extends StoreFlags {
  readonly out?: string;
  readonly force?: boolean;
}

function createRemoveCommand(act: SessionsActions["rm"]): Command {
  const command = new Command("rm")
    .description("delete sessions, after a question")
    .argument("<ids...>", "ids of the sessions (wink sessions ls prints them)")
    .option("--yes", "delete without a question; required if no terminal can answer it")
    .option("--json", "print the deleted and the failed sessions as one line of JSON");
  return addStoreOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  wink sessions rm nightly --store ./sessions\n  wink sessions rm nightly weekly --store sessions.sqlite --yes --json\n\nIf one of the ids is unknown, nothing is deleted. A session that a process works on stays, and so does the session\nof a fleet's run that has not ended; wink then exits with 1.",
    )
    .action(async (ids: readonly string[], flags: RemoveFlags) => {
      const choice = selectStore(flags, command);
      const { yes = false, json = false } = flags;
      if (!yes && process.stdin.isTTY !== true) {
        command.error("error: no terminal can answer the question. Use --yes to delete without it");
      }
      process.exitCode = await act(choice, { ids, yes, json });
    });
}

interface RemoveFlags extends StoreFlags, JsonFlag {
  readonly yes?: boolean;
}

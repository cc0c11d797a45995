import { Command, Option } from "commander";
import { parsePort } from "./parse-port.ts";

/** Creates the command `wink inspect`. */
export function createInspectCommand(): Command {
  return new Command("inspect")
    .description("show sessions in a local page: turns, prompts, calls, files and costs")
    .argument(
      "[session]",
      "session id (with --store), session file, folder, SQLite file or postgres:// URL",
    )
    .option("--store <place>", "store of the session: a folder, a SQLite file or a postgres:// URL")
    .option(
      "--files <folder>",
      "persistDir of the session's workspace, to show the lines that changed",
    )
    .option("--schema <name>", "schema of a PostgreSQL database's tables (default: wink)")
    .addOption(
      new Option("--port <number>", "port on 127.0.0.1 (default: any free port)")
        .argParser(parsePort)
        .default(0, "0"),
    )
    .option("--json", "print url and sessions as one line of JSON")
    .option("--no-open", "do not open a browser")
    .addHelpText(
      "after",
      "\nExamples:\n  wink inspect ./sessions\n  wink inspect nightly --store ./sessions\n  wink inspect sessions.sqlite --json\n  wink inspect postgres://localhost/fleet\n\nThe page is served on 127.0.0.1 only, with a token in its URL. It follows running sessions turn by turn.\nA browser opens only on a terminal; otherwise the URL is printed.",
    )
    .action(startInspecting);
}

interface InspectFlags {
  readonly store?: string;
  readonly files?: string;
  readonly schema?: string;
  readonly port: number;
  readonly json?: boolean;
  readonly open: boolean;
}

async function startInspecting(
  target: string | undefined,
  flags: InspectFlags,
  command: Command,
): Promise<void> {
  const { store, files, schema, port, json = false, open } = flags;
  if (!target && !store) {
    const remedy = "pass a session file, a folder, a SQLite file or a postgres:// URL, or --store";
    command.error(`error: missing argument 'session': ${remedy}`);
  }
  const { inspect } = await import("../inspect.ts");
  await inspect({ target, store, files, schema, port, json, ...(!open && { open: false }) });
}

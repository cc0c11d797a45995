import type { Command } from "commander";
import { parsePort } from "./parse-port.ts";

/** The flags that only agents have. */
export interface AgentFlags {
  readonly param?: readonly string[];
  readonly params?: string;
  readonly input?: string;
  readonly store?: string;
  readonly schema?: string;
  readonly session?: string;
  readonly approve?: readonly string[];
  readonly deny?: readonly string[];
  readonly inspect?: boolean;
  readonly port?: number;
  readonly open: boolean;
}

const GROUP = "Options of an agent:";

/** Adds the flags that only agents have. */
export function addAgentOptions(command: Command): Command {
  return command
    .optionsGroup(GROUP)
    .option("--param <name=value>", "a param; repeatable", collect)
    .option("--params <file>", "a JSON file with params, or - for standard input")
    .option("--input <text>", "the user's input; not for an AgentLoop")
    .option("--store <place>", "store of the session: a folder, a SQLite file or a postgres:// URL")
    .option("--schema <name>", "schema of a PostgreSQL database's tables (default: wink)")
    .option("--session <id>", "id of the stored session; the same id continues its run")
    .option("--approve <key>", "approve a call that waits in the session; repeatable", collect)
    .option("--deny <key>", "deny a call that waits in the session; repeatable", collect)
    .option("--inspect", "show the run in a local page while it happens")
    .option("--port <number>", "port of the page on 127.0.0.1 (default: any free port)", parsePort)
    .option("--no-open", "do not open a browser for the page")
    .optionsGroup("Options:");
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Rejects flags of agents that have no effect without another one. */
export function checkAgentFlagPairs(flags: AgentFlags, command: Command): void {
  const { store, schema, session, approve, deny, inspect, port } = flags;
  const pairs = [
    ["--schema", schema, "--store", store],
    ["--session", session, "--store", store],
    ["--approve", approve, "--session", session],
    ["--deny", deny, "--session", session],
    ["--port", port, "--inspect", inspect],
  ] as const;
  for (const [flag, value, needed, given] of pairs) {
    if (value === undefined || given !== undefined) continue;
    command.error(`error: ${flag} must be used together with ${needed}`);
  }
}

/** Rejects flags of agents in front of a program. */
export function refuseAgentFlags(program: string, command: Command): void {
  const group = command.options.filter(({ helpGroupHeading }) => helpGroupHeading === GROUP);
  const wrong = group.find((one) => command.getOptionValueSource(one.attributeName()) === "cli");
  if (!wrong) return;
  const what = `${program} is not a module with a default export, so it runs as a program`;
  command.error(
    `error: ${wrong.long} is for agents, and ${what}\n(flags of the program come after it)`,
  );
}

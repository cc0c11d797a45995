import { existsSync } from "node:fs";
import { extname } from "node:path";
import { Command } from "commander";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import { isAgentFile, NODE_FILES } from "../run/is-agent-file.ts";
import type { AgentRunOptions, ProgramRunOptions, RunActions } from "../run/run-options.ts";
import {
  type AgentFlags,
  addAgentOptions,
  checkAgentFlagPairs,
  refuseAgentFlags,
} from "./add-agent-options.ts";
import { addProviderOptions, type ProviderFlags, selectModel } from "./add-provider-options.ts";

/** Creates `wink run`. */
export function createRunCommand(run: RunActions): Command {
  const command = new Command("run")
    .description(
      "run an agent, or a program on a local provider, without a key and without a network",
    )
    .argument(
      "<file>",
      "module whose default export is an agent, a program for Node.js, or any command",
    )
    .argument("[args...]", "arguments of the program, or more flags for the agent")
    .passThroughOptions();
  addProviderOptions(command, {
    flag: "--model <name>",
    description:
      "script to play (.json, or a module), or for an agent the name of a model at OpenAI",
  })
    .option("--requests", "print a line per request to the local provider on standard error")
    .option(
      "--json",
      "agent: print one JSON document; program: print requests as JSON on standard error",
    );
  return addAgentOptions(command)
    .addHelpText("after", HELP)
    .action(async (file: string, args: readonly string[], flags: RunFlags) => {
      process.exitCode = isAgentFile(file)
        ? await run.agent(toAgentOptions(file, args, command))
        : await run.program({ program: file, args, ...toProgramOptions(file, flags, command) });
    });
}

const HELP = `
Examples:
  wink run agent.mts --param topic=bread --inspect
  echo '{"topic": "bread"}' | wink run agent.mts --json
  OPENAI_API_KEY=… wink run agent.mts --model gpt-5.2 --store sessions --session nightly
  wink run program.mts
  wink run --model turns.json program.mts --fast
  wink run --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3 program.mts
  wink run --requests python3 program.py

An agent is a module whose default export is a PromptTemplate, a Prompt or an AgentLoop. Its answer is printed on
standard output. It uses OPENAI_API_KEY and OPENAI_BASE_URL, or a local provider if neither is set. Its params are
flags, or a JSON object on standard input; flags may stand before and after the file.

Any other file or command is a program. It gets OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL and
ANTHROPIC_API_KEY of a local provider that only it can use. Flags after the program are the program's, and wink ends
with its exit code. To run a module with a default export as a program: wink run node program.mts`;

interface RunFlags extends ProviderFlags, AgentFlags {
  readonly json?: boolean;
  readonly requests?: boolean;
  readonly debug?: boolean;
}

function toProgramOptions(
  file: string,
  flags: RunFlags,
  command: Command,
): Omit<ProgramRunOptions, "program" | "args"> {
  const isMissing = NODE_FILES.includes(extname(file)) && !existsSync(file);
  if (!isMissing) refuseAgentFlags(file, command); // a missing file is reported first
  const model = selectModel(flags, command);
  const { dataDir, sandbox, sandboxImage, web, json = false, requests = false } = flags;
  return { provider: { dataDir, sandbox, sandboxImage, web, model }, json, requests };
}

function toAgentOptions(file: string, args: readonly string[], command: Command): AgentRunOptions {
  parseRest(args, command);
  const flags: RunFlags = command.opts();
  checkAgentFlagPairs(flags, command);
  const { model: named, ...others } = flags;
  const { dataDir, sandbox, sandboxImage, web, approve = [], deny = [] } = others;
  const isScript = named !== undefined && SCRIPT_FILES.includes(extname(named).toLowerCase());
  if (named !== undefined && flags.upstream !== undefined) {
    command.error("error: --model cannot be used together with --upstream");
  }
  const model = selectModel(isScript ? flags : others, command);
  const isGiven = (name: string) => command.getOptionValueSource(name) === "cli";
  return {
    file,
    params: flags.param ?? [],
    paramsFile: flags.params,
    input: flags.input,
    model: isScript ? undefined : named,
    provider: { dataDir, sandbox, sandboxImage, web, model },
    isLocal: isScript || PROVIDER_FLAGS.some(isGiven),
    requests: flags.requests ?? false,
    store: flags.store,
    schema: flags.schema,
    session: flags.session,
    approvals: {
      ...Object.fromEntries(approve.map((key) => [key, "approve"] as const)),
      ...Object.fromEntries(deny.map((key) => [key, "deny"] as const)),
    },
    inspect: flags.inspect ?? false,
    port: flags.port ?? 0,
    open: flags.open,
    json: flags.json ?? false,
    debug: flags.debug ?? false,
  };
}

/** Parses the flags after the file of an agent. */
function parseRest(args: readonly string[], command: Command): void {
  const { operands, unknown } = command.passThroughOptions(false).parseOptions([...args]);
  if (unknown.includes("--help") || unknown.includes("-h")) command.help();
  const [flag] = unknown;
  if (flag !== undefined) {
    const known = command.options.map(({ long }) => long ?? "");
    const near = suggestSpelling(flag.split("=", 1).join(), known);
    const hint = near === null ? "" : `\n(Did you mean ${near}?)`;
    command.error(`error: unknown option '${flag}'${hint}`);
  }
  const [operand] = operands;
  if (operand === undefined) return;
  command.error(`error: an agent has no arguments, got '${operand}'. Use --param or --input.`);
}

/** Extensions of the scripts that `--model` may name. Any other value names a model. */
const SCRIPT_FILES: readonly string[] = [".json", ...NODE_FILES];

/** The flags that start a local provider, also if the environment has another one. */
const PROVIDER_FLAGS: readonly (keyof ProviderFlags | "requests")[] = [
  "dataDir",
  "requests",
  "sandbox",
  "sandboxImage",
  "upstream",
  "upstreamKey",
  "upstreamModel",
  "web",
];

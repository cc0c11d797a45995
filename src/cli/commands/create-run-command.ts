import { Command } from "commander";
import { addProviderOptions, type ProviderFlags, selectModel } from "./add-provider-options.ts";

/** Creates `wink run`. */
export function createRunCommand(): Command {
  const command = new Command("run")
    .description("run a program on a local provider, without a key and without a network")
    .argument("<program>", "file for Node.js, such as agent.mts, or any other command")
    .argument("[args...]", "arguments of the program")
    .passThroughOptions();
  return addProviderOptions(command)
    .option("--requests", "print a line per request on standard error")
    .option("--json", "print url, sandbox, model and requests as lines of JSON on standard error")
    .addHelpText(
      "after",
      "\nExamples:\n  wink run agent.mts\n  wink run --model turns.json agent.mts --fast\n  wink run --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3 agent.mts\n  wink run --requests python3 agent.py\n\nThe program gets OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY of a provider that only\nit can use. Flags after the program are the program's. wink ends with the program, and with its exit code.",
    )
    .action(start);
}

async function start(
  program: string,
  args: readonly string[],
  flags: RunFlags,
  command: Command,
): Promise<void> {
  const model = selectModel(flags, command);
  const { runProgram } = await import("../run-program.ts");
  const { dataDir, sandbox, sandboxImage, web, json = false, requests = false } = flags;
  const provider = { dataDir, sandbox, sandboxImage, web, model };
  process.exitCode = await runProgram({ program, args, provider, json, requests });
}

interface RunFlags extends ProviderFlags {
  readonly json?: boolean;
  readonly requests?: boolean;
}

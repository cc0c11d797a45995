import { Command } from "commander";
import type { InitOptions } from "./init.ts";

/** Creates `wink init`. */
export function createInitCommand(run: (options: InitOptions) => Promise<void>): Command {
  return new Command("init")
    .description("create a project with one agent, a test that needs no key, and CI")
    .argument("[folder]", "folder of the project; it is created if needed", ".")
    .option("--json", "print the files and the next commands as one JSON document")
    .addHelpText(
      "after",
      "\nExamples:\n  wink init my-agent\n  npx weakincentives init my-agent\n  wink init --json | jq -r '.next[]'\n\nThe project has an agent in TypeScript, a program that runs it with a deadline, a budget and a stored session, tests on\nthe local provider, and a workflow for GitHub. Other files may be in the folder; no file is replaced.",
    )
    .action(async (folder: string, { json = false }: { readonly json?: boolean }) => {
      await run({ folder, json });
    });
}

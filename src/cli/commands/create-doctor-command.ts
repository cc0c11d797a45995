import { Command } from "commander";

/** Creates `wink doctor`. */
export function createDoctorCommand(): Command {
  return new Command("doctor")
    .description("check which features and sandboxes work on this machine")
    .option("--json", "print the result as one JSON document")
    .addHelpText(
      "after",
      "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nExits with 1 if no sandbox works.",
    )
    .action(async (options: { readonly json?: boolean }) => {
      const { doctor } = await import("../doctor.ts");
      process.exitCode = await doctor({ json: options.json ?? false });
    });
}

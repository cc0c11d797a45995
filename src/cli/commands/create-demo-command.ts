import { Command } from "commander";

/** Creates `wink demo`. */
export function createDemoCommand(): Command {
  return new Command("demo")
    .description("run a small agent end to end, with a scripted model and no network")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
    .action(async (options: { readonly json?: boolean }) => {
      const { demo } = await import("../demo/demo.ts");
      await demo({ json: options.json ?? false });
    });
}

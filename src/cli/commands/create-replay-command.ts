import { Command, Option } from "commander";
import type { ReplayOptions } from "../replay/replay.ts";

/** Creates `wink replay`. */
export function createReplayCommand(): Command {
  return new Command("replay")
    .description("print a run that was recorded with cassette(), or turn it into a test")
    .argument("<file>", "the cassette")
    .addOption(
      new Option("--json", "print the run as one JSON document, with its answer").conflicts("test"),
    )
    .option("--test", "write a test for node --test that replays the run")
    .option("--out <file>", "path of the test (default: the cassette's, ending in .test.mjs)")
    .option("--agent <module>", "module whose default export takes fetch and returns the answer")
    .addHelpText(
      "after",
      "\nExamples:\n  wink replay run.cassette.jsonl\n  wink replay run.cassette.jsonl --json | jq -r .answer\n  wink replay run.cassette.jsonl --test --agent agent.mts\n\nNo request is sent, and nothing in the cassette is executed. The agent of a test is a function:\n  export default async (fetch) => await adapter.evaluate(prompt)  // adapter with clientConfig: { fetch }\nWithout --agent, the test has a place for it.",
    )
    .action(async (file: string, flags: Partial<ReplayOptions>, command: Command) => {
      const { json = false, test = false, out, agent } = flags;
      if (!test && (out ?? agent) !== undefined) {
        command.error("error: --out and --agent must be used together with --test");
      }
      const { replay } = await import("../replay/replay.ts");
      await replay(file, { json, test, out, agent });
    });
}

#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { WinkError } from "../base/errors.ts";
import type { MountOptions } from "./mount.ts";
import type { ServeOptions } from "./serve.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const wink = new Command("wink")
  .description("The prompt is the agent: run, try and look into agents.")
  .version(version)
  .exitOverride()
  .showHelpAfterError("(wink --help lists the commands)")
  .addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 not understood.\nColour is left out when piped or when NO_COLOR is set.",
  );

wink
  .command("demo")
  .description("run a small agent end to end, with a scripted model and no network")
  .option("--json", "print what happened as one JSON document")
  .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
  .action(async (options: { readonly json?: boolean }) => {
    const { demo } = await import("./demo/demo.ts");
    await demo({ json: options.json ?? false });
  });

wink
  .command("doctor")
  .description("say what this machine can run, and which sandbox would be taken")
  .option("--json", "print the findings as one JSON document")
  .addHelpText(
    "after",
    "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nEnds with 1 if no sandbox works here.",
  )
  .action(async (options: { readonly json?: boolean }) => {
    const { doctor } = await import("./doctor.ts");
    process.exitCode = await doctor({ json: options.json ?? false });
  });

wink
  .command("mount")
  .description("show what a workspace would take of a folder or file, without sending anything")
  .argument("<path>", "the folder or file")
  .option("--include <glob>", "only what matches; may be given again", gathered, [])
  .option("--exclude <glob>", "nothing that matches; may be given again", gathered, [])
  .option("--max-bytes <number>", "fail if it is more than this", bytesOf)
  .option("--follow-symlinks", "take what symlinks lead to, as long as it is below the path")
  .option(
    "--allow-secret <path>",
    "take this key file, by path or glob; again for more",
    gathered,
    [],
  )
  .option("--json", "print the plan as one JSON document, with every file")
  .addHelpText(
    "after",
    "\nExamples:\n  wink mount . --exclude '.git/*' --exclude 'node_modules/*'\n  wink mount data --include '*.csv' --max-bytes 20000000 --json | jq .bytes\n\nA star crosses slashes. Ends with 1 if the mount would be refused.",
  )
  .action(async (path: string, options: MountFlags) => {
    const { mount } = await import("./mount.ts");
    const { json = false, followSymlinks = false, ...rest } = options;
    mount(path, { ...rest, json, followSymlinks });
  });

wink
  .command("serve")
  .description("serve OpenAI's API on this machine, with hosted tools that really run")
  .option("--port <number>", "where to listen; 0: any that is free", portOf, 8484)
  .option("--host <address>", "who may reach it; any but this machine needs a key", "127.0.0.1")
  .option("--data-dir <folder>", "where to keep everything (default: a temporary folder)")
  .addOption(
    new Option("--sandbox <name>", "where code runs; auto: the strongest there is")
      .choices(["auto", "bubblewrap", "wasm"])
      .default("auto"),
  )
  .addOption(
    new Option(
      "--model <script>",
      "play this script: a .json list of turns, or a module (default: an echo)",
    ).conflicts(["upstream", "upstreamModel"]),
  )
  .option("--upstream <url>", "ask this OpenAI-compatible model server, with --upstream-model")
  .option("--upstream-model <name>", "what that server calls the model")
  .option("--web <folder>", "the pages that web search finds (default: none)")
  .addOption(new Option("--api-key <key>", "ask for this key").env("WINK_API_KEY"))
  .option("--json", "print one line of JSON with url, sandbox and model")
  .addHelpText(
    "after",
    "\nExamples:\n  wink serve\n  wink serve --port 0 --json --model turns.json\n  wink serve --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3 --web ./pages\n\nA key is better given as WINK_API_KEY: other users of a machine can read command lines.",
  )
  .action(async (options: ServeFlags, command: Command) => {
    const { upstream, upstreamModel, model: script, json = false, ...rest } = options;
    if ((upstream === undefined) !== (upstreamModel === undefined)) {
      command.error("error: --upstream and --upstream-model go together: give both, or neither");
    }
    const { serve } = await import("./serve.ts");
    const asked =
      upstream !== undefined && upstreamModel !== undefined
        ? { upstream: { baseURL: upstream, model: upstreamModel } }
        : { script };
    await serve({ ...rest, model: asked, json });
  });

// Whoever reads may have seen enough: `wink demo | head` is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  await wink.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Commander has already said what is wrong with a command line; the rest is said here. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const text = error instanceof WinkError ? `${error.name}: ${error.message}` : error;
  console.error(text);
  return 1;
}

interface ServeFlags extends Omit<ServeOptions, "model" | "json"> {
  readonly model?: string;
  readonly upstream?: string;
  readonly upstreamModel?: string;
  readonly json?: boolean;
}

interface MountFlags extends Omit<MountOptions, "json" | "followSymlinks"> {
  readonly json?: boolean;
  readonly followSymlinks?: boolean;
}

function gathered(one: string, before: readonly string[]): readonly string[] {
  return [...before, one];
}

function bytesOf(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError("It is a whole number of bytes, 0 or more.");
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError("It is a whole number from 0 to 65535.");
}

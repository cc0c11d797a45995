#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { WinkError } from "../base/errors.ts";
import type { MountOptions } from "./mount.ts";
import type { ServeOptions } from "./serve.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

let isServer = false;

const wink = new Command("wink")
  .description("Run, test and inspect agents.")
  .version(version)
  .exitOverride()
  .showHelpAfterError("(run wink --help for a list of commands)")
  .addHelpText(
    "after",
    "\nExit codes: 0 success, 1 failure, 2 usage error.\nColors are disabled when output is piped or NO_COLOR is set.",
  );

wink
  .command("demo")
  .description("run a small agent end to end, with a scripted model and no network")
  .option("--json", "print the result as one JSON document")
  .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
  .action(async (options: { readonly json?: boolean }) => {
    const { demo } = await import("./demo/demo.ts");
    await demo({ json: options.json ?? false });
  });

wink
  .command("doctor")
  .description("check which features and sandboxes work on this machine")
  .option("--json", "print the result as one JSON document")
  .addHelpText(
    "after",
    "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nExits with 1 if no sandbox works.",
  )
  .action(async (options: { readonly json?: boolean }) => {
    const { doctor } = await import("./doctor.ts");
    process.exitCode = await doctor({ json: options.json ?? false });
  });

wink
  .command("mount")
  .description("show which files a workspace would mount, without copying or sending anything")
  .argument("<path>", "folder or file to mount")
  .option("--include <glob>", "mount only matching files (repeatable)", collect, [])
  .option("--exclude <glob>", "omit matching files (repeatable)", collect, [])
  .option("--max-bytes <number>", "fail if the files are larger than this", parseBytes)
  .option("--follow-symlinks", "follow symlinks that stay below the path")
  .option("--gitignore", "omit what .gitignore files ignore, and .git")
  .option("--allow-secret <path>", "mount this key file, by path or glob (repeatable)", collect, [])
  .option("--json", "print the plan as one JSON document, including every file")
  .addHelpText(
    "after",
    "\nExamples:\n  wink mount . --gitignore --exclude '*.{png,jpg}'\n  wink mount data --include '*.csv' --max-bytes 20000000 --json | jq .bytes\n\nA glob without a slash inside is the name of a file or folder at any depth; with one, it is a path from\nthe root of the mount. * also matches slashes. Exits with 1 if the mount would be rejected.",
  )
  .action(async (path: string, options: MountFlags) => {
    const { mount } = await import("./mount.ts");
    const { json = false, followSymlinks = false, gitignore = false, ...rest } = options;
    mount(path, { ...rest, json, followSymlinks, gitignore });
  });

wink
  .command("serve")
  .description(
    "serve OpenAI's and Anthropic's APIs locally, with hosted tools that run on this machine",
  )
  .option("--port <number>", "port to listen on; 0 selects a free port", parsePort, 8484)
  .option(
    "--host <address>",
    "address to listen on; a non-loopback address requires an API key",
    "127.0.0.1",
  )
  .option("--data-dir <folder>", "folder for all data (default: a temporary folder)")
  .addOption(
    new Option("--sandbox <name>", "sandbox for code; auto selects the strongest available")
      .choices(["auto", "bubblewrap", "wasm"])
      .default("auto"),
  )
  .addOption(
    new Option(
      "--model <script>",
      "script to play: a .json array of turns, or a module (default: an echo)",
    ).conflicts(["upstream", "upstreamModel"]),
  )
  .option(
    "--upstream <url>",
    "OpenAI-compatible model server to use, together with --upstream-model",
  )
  .option("--upstream-model <name>", "name of the model on that server")
  .addOption(new Option("--upstream-key <key>", "API key of that server").env("WINK_UPSTREAM_KEY"))
  .option("--web <folder>", "folder with the pages for web search (default: none)")
  .addOption(new Option("--api-key <key>", "require this API key").env("WINK_API_KEY"))
  .option("--json", "print url, sandbox and model as one line of JSON, then one line per request")
  .option("--quiet", "print no line per request")
  .addHelpText(
    "after",
    "\nExamples:\n  wink serve\n  wink serve --port 0 --json --quiet --model turns.json\n  wink serve --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3 --web ./pages\n  wink serve --json | jq 'select(.request.error) | .request'\n\nEach request is a line: POST /v1/responses 200 12ms stream 15+7 tokens (input + output).\nPrefer WINK_API_KEY to --api-key, and WINK_UPSTREAM_KEY to --upstream-key: other users of this machine can\nsee command lines.",
  )
  .action(async (options: ServeFlags, command: Command) => {
    const { upstream, upstreamModel, upstreamKey, model: script, ...rest } = options;
    if ((upstream === undefined) !== (upstreamModel === undefined)) {
      command.error("error: --upstream and --upstream-model must be used together");
    }
    if (upstream === undefined && command.getOptionValueSource("upstreamKey") === "cli") {
      command.error("error: --upstream-key must be used together with --upstream");
    }
    const { serve } = await import("./serve.ts");
    const asked =
      upstream !== undefined && upstreamModel !== undefined
        ? { upstream: { baseURL: upstream, model: upstreamModel, apiKey: upstreamKey } }
        : { script };
    isServer = true;
    await serve({ json: false, quiet: false, ...rest, model: asked });
  });

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server runs on without it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (!isServer) process.exit(0);
});

try {
  await wink.parseAsync();
} catch (error) {
  process.exitCode = toExitCode(error);
}

/** Returns the exit code for an error. Prints the error unless Commander has already done so. */
function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const text = error instanceof WinkError ? `${error.name}: ${error.message}` : error;
  console.error(text);
  return 1;
}

interface ServeFlags extends Omit<ServeOptions, "model" | "json" | "quiet"> {
  readonly model?: string;
  readonly upstream?: string;
  readonly upstreamModel?: string;
  readonly upstreamKey?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

interface MountFlags extends Omit<MountOptions, "json" | "followSymlinks" | "gitignore"> {
  readonly json?: boolean;
  readonly followSymlinks?: boolean;
  readonly gitignore?: boolean;
}

function collect(one: string, before: readonly string[]): readonly string[] {
  return [...before, one];
}

function parseBytes(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError("Use an integer of 0 or more.");
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError("Use an integer from 0 to 65535.");
}

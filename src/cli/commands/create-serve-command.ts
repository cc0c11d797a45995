import { Command, InvalidArgumentError, Option } from "commander";
import type { ServeOptions } from "../serve.ts";

/** Creates `wink serve`. */
export function createServeCommand(): Command {
  const command = new Command("serve")
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
        .choices(["auto", "bubblewrap", "podman", "docker", "wasm"])
        .default("auto"),
    )
    .addOption(
      new Option(
        "--sandbox-image <name>",
        "image for podman or docker, with Python and a shell (default: python:3.13-slim)",
      ).env("WINK_SANDBOX_IMAGE"),
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
    .addOption(
      new Option("--upstream-key <key>", "API key of that server").env("WINK_UPSTREAM_KEY"),
    )
    .option("--web <folder>", "folder with the pages for web search (default: none)")
    .addOption(new Option("--api-key <key>", "require this API key").env("WINK_API_KEY"))
    .addOption(
      createListOption(
        "--allow-host <name>",
        "host name that clients may use without an API key, besides localhost; repeatable",
      ),
    )
    .addOption(
      createListOption(
        "--allow-origin <origin>",
        "web page that may send requests without an API key, such as http://localhost:5173; repeatable",
      ),
    )
    .option("--json", "print url, sandbox and model as one line of JSON, then one line per request")
    .option("--quiet", "print no line per request")
    .addHelpText(
      "after",
      "\nExamples:\n  wink serve\n  wink serve --port 0 --json --quiet --model turns.json\n  wink serve --upstream http://127.0.0.1:11434/v1 --upstream-model qwen3 --web ./pages\n  wink serve --json | jq 'select(.request.error) | .request'\n\nEach request is a line: POST /v1/responses 200 12ms stream 15+7 tokens (input + output).\nPrefer WINK_API_KEY to --api-key, and WINK_UPSTREAM_KEY to --upstream-key: other users of this machine can\nsee command lines.",
    );
  return command.action(start);
}

async function start(options: ServeFlags, command: Command): Promise<void> {
  const { upstream, upstreamModel, upstreamKey, model: script, ...rest } = options;
  checkFlags(options, command);
  const { serve } = await import("../serve.ts");
  const asked =
    upstream !== undefined && upstreamModel !== undefined
      ? { upstream: { baseURL: upstream, model: upstreamModel, apiKey: upstreamKey } }
      : { script };
  await serve({ json: false, quiet: false, ...rest, model: asked });
}

interface ServeFlags extends Omit<ServeOptions, "model" | "json" | "quiet"> {
  readonly model?: string;
  readonly upstream?: string;
  readonly upstreamModel?: string;
  readonly upstreamKey?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Rejects flags that have no effect without another flag. */
function checkFlags({ upstream, upstreamModel, sandbox }: ServeFlags, command: Command): void {
  const isGiven = (name: string) => command.getOptionValueSource(name) === "cli";
  if ((upstream === undefined) !== (upstreamModel === undefined)) {
    command.error("error: --upstream and --upstream-model must be used together");
  }
  if (upstream === undefined && isGiven("upstreamKey")) {
    command.error("error: --upstream-key must be used together with --upstream");
  }
  if (sandbox !== "docker" && sandbox !== "podman" && isGiven("sandboxImage")) {
    command.error("error: --sandbox-image must be used together with --sandbox podman or docker");
  }
}

/** Creates an option that can be given several times, with one value each. */
function createListOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, list: readonly string[] = []) => [
    ...list,
    value,
  ]);
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError("Use an integer from 0 to 65535.");
}

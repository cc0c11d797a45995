import { type Command, Option } from "commander";
import type { SandboxName } from "../find-sandbox.ts";
import type { ModelChoice } from "../load-model.ts";

/** The flags that choose the model and the sandbox of a local provider. */
export interface ProviderFlags {
  readonly dataDir?: string;
  readonly sandbox: SandboxName;
  readonly sandboxImage?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly upstreamModel?: string;
  readonly upstreamKey?: string;
  readonly web?: string;
}

const SCRIPT = "script to play: a .json array of turns, or a module (default: an echo)";

/** Adds the flags that choose the model and the sandbox of a local provider. `model` describes the values of `--model`. */
export function addProviderOptions(
  command: Command,
  model: { readonly flag: string; readonly description: string } = {
    flag: "--model <script>",
    description: SCRIPT,
  },
): Command {
  return command
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
    .addOption(new Option(model.flag, model.description).conflicts(["upstream", "upstreamModel"]))
    .option(
      "--upstream <url>",
      "OpenAI-compatible model server to use, together with --upstream-model",
    )
    .option("--upstream-model <name>", "name of the model on that server")
    .addOption(
      new Option("--upstream-key <key>", "API key of that server").env("WINK_UPSTREAM_KEY"),
    )
    .option("--web <folder>", "folder with the pages for web search (default: none)");
}

/** Returns the model that the flags select. Rejects flags that have no effect without another flag. */
export function selectModel(flags: ProviderFlags, command: Command): ModelChoice {
  const { upstream, upstreamModel, upstreamKey, sandbox, model: script } = flags;
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
  return upstream !== undefined && upstreamModel !== undefined
    ? { upstream: { baseURL: upstream, model: upstreamModel, apiKey: upstreamKey } }
    : { script };
}

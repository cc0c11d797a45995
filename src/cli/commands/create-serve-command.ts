import { Command, Option } from "commander";
import { addProviderOptions, type ProviderFlags, selectModel } from "./add-provider-options.ts";
import { parsePort } from "./parse-port.ts";

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
    );
  return addProviderOptions(command)
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
    )
    .action(start);
}

async function start(flags: ServeFlags, command: Command): Promise<void> {
  const model = selectModel(flags, command);
  const { serve } = await import("../serve.ts");
  const { upstream, upstreamModel, upstreamKey, debug, ...rest } = flags;
  await serve({ json: false, quiet: false, ...rest, model });
}

interface ServeFlags extends ProviderFlags {
  readonly port: number;
  readonly host: string;
  readonly apiKey?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
}

/** Creates an option that can be given several times, with one value each. */
function createListOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, list: readonly string[] = []) => [
    ...list,
    value,
  ]);
}

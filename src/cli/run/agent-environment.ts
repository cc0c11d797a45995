import { ECHO } from "../load-model.ts";
import { RequestPrinter } from "../request-printer.ts";
import { toFlagError } from "../to-flag-error.ts";
import type { RunHost } from "./run-host.ts";
import type { AgentRunOptions } from "./run-options.ts";
import type { RunPrinter } from "./run-printer.ts";
import { type StartedProvider, startProvider } from "./start-provider.ts";

/** The provider that the environment of an agent names, until it is disposed. */
export interface AgentEnvironment extends AsyncDisposable {
  /** Display name of the local provider's model; `null` if the environment names another provider. */
  readonly localModel: string | null;
}

/**
 * Starts a local provider and sets the environment to it, if the options ask for it or the environment has no provider of
 * OpenAI's API. The module of the agent must be loaded afterwards, because it may read the environment.
 */
export async function openAgentEnvironment(
  options: Pick<AgentRunOptions, "isLocal" | "json" | "provider" | "requests">,
  host: Pick<RunHost, "env" | "stderr">,
  printer: RunPrinter,
): Promise<AgentEnvironment> {
  const { env, stderr } = host;
  if (!options.isLocal && hasProvider(env)) {
    return { localModel: null, [Symbol.asyncDispose]: async () => {} };
  }
  const requests = new RequestPrinter(stderr, { json: options.json });
  let isFirst = true;
  printer.show("Starting the local provider …");
  const started = await startProvider(options.provider, (entry) => {
    if (isFirst && started.opened.modelName === ECHO) printer.note(ECHO_NOTE);
    isFirst = false;
    if (!options.requests) return;
    printer.clear();
    requests.print(entry);
  }).catch((error: unknown) => {
    throw toFlagError(error);
  });
  printer.clear();
  const restored = setVariables(selectVariables(started, options.isLocal, env), env);
  return {
    localModel: started.opened.modelName,
    async [Symbol.asyncDispose]() {
      restored[Symbol.dispose]();
      await started[Symbol.asyncDispose]();
    },
  };
}

/** Returns whether the environment names a provider of OpenAI's API. */
export function hasProvider(env: RunHost["env"]): boolean {
  return Boolean(env["OPENAI_API_KEY"]?.trim() || env["OPENAI_BASE_URL"]?.trim());
}

const ECHO_NOTE =
  "An echo answers instead of a model. Set OPENAI_API_KEY and use --model NAME, or use --upstream or --model SCRIPT.";

/** Without a flag for the local provider, the agent keeps the access to Anthropic's API that it has. */
function selectVariables(
  { variables }: StartedProvider,
  isLocal: boolean,
  env: RunHost["env"],
): StartedProvider["variables"] {
  const hasAnthropic = Boolean(env["ANTHROPIC_API_KEY"] || env["ANTHROPIC_BASE_URL"]);
  if (isLocal || !hasAnthropic) return variables;
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !name.startsWith("ANTHROPIC_")),
  );
}

function setVariables(variables: StartedProvider["variables"], env: RunHost["env"]): Disposable {
  const before = Object.keys(variables).map((name) => [name, env[name]] as const);
  Object.assign(env, variables);
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        if (value === undefined) delete env[name];
        else env[name] = value;
      }
    },
  };
}

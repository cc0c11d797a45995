import { onTestFinished } from "vitest";
import {
  type CreateClientOptions,
  createFaultSetup,
  type FaultSetup,
  type FaultSetupOptions,
} from "../faults/fault-setup.ts";
import { testKey } from "../openai-clients.ts";
import { functionCall, message, type WireScript } from "../wire-server.ts";
import {
  type CompactionRouteOptions,
  type CompactionRoutes,
  compactionRoutes,
} from "./compaction-routes.ts";

/** A model's call to the tool "add". */
export const addCall = functionCall("add", { a: 1, b: 2 });

/** The usage of a response after which the conversation may be too long. */
const usage = { input_tokens: 50, output_tokens: 10, total_tokens: 60 };

/** A turn with the call and a turn with the last answer; both report 60 tokens. */
export const callTurn = { output: [addCall], usage };
export const answerTurn = { output: [message("Three.")], usage };

/** The options of a run. */
export interface CompactionRunOptions extends CompactionRouteOptions, FaultSetupOptions {
  readonly client?: CreateClientOptions;
}

/** Starts an adapter with a compaction threshold of 50 tokens. It is closed when the test ends. */
export async function startCompactionRun(
  script: WireScript,
  options: CompactionRunOptions = {},
): Promise<FaultSetup & Pick<CompactionRoutes, "counts" | "compactions">> {
  const { tokens, window, client = createClientOptions, ...setting } = options;
  const compaction = compactionRoutes({ ...(tokens && { tokens }), ...(window && { window }) });
  const run = await createFaultSetup(client, script, {
    ...setting,
    adapter: { compaction: { thresholdTokens: 50 }, ...setting.adapter },
    server: { leftOver: "allowed", ...setting.server, routes: compaction.routes },
  });
  onTestFinished(() => run[Symbol.asyncDispose]());
  return Object.assign(run, { counts: compaction.counts, compactions: compaction.compactions });
}

function createClientOptions(baseURL: string) {
  return { clientConfig: { apiKey: testKey, baseURL } };
}

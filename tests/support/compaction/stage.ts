import { onTestFinished } from "vitest";
import { type MakeClient, type Stage, type StageSetting, stage } from "../faults/stage.ts";
import { testKey } from "../openai-clients.ts";
import { functionCall, message, type WireScript } from "../wire-server.ts";
import { type CompactionRouteOptions, type CompactionRoutes, compactionRoutes } from "./routes.ts";

/** The model adds. */
export const add = functionCall("add", { a: 1, b: 2 });

/** Of an answer after which the conversation may be too long. */
const usage = { input_tokens: 50, output_tokens: 10, total_tokens: 60 };

/** The same call, and a last answer: after both of them there are sixty tokens. */
export const calling = { output: [add], usage };
export const three = { output: [message("Three.")], usage };

/** How a stage differs from the plainest one. */
export interface CompactingOptions extends CompactionRouteOptions, StageSetting {
  readonly client?: MakeClient;
}

/** An evaluation whose conversation may have fifty tokens; it is over when the test is. */
export async function compacting(
  script: WireScript,
  options: CompactingOptions = {},
): Promise<Stage & Pick<CompactionRoutes, "counts" | "compactions">> {
  const { tokens, window, client = ourClient, ...setting } = options;
  const made = compactionRoutes({ ...(tokens && { tokens }), ...(window && { window }) });
  const at = await stage(client, script, {
    ...setting,
    adapter: { compaction: { thresholdTokens: 50 }, ...setting.adapter },
    server: { leftOver: "allowed", ...setting.server, routes: made.routes },
  });
  onTestFinished(() => at[Symbol.asyncDispose]());
  return Object.assign(at, { counts: made.counts, compactions: made.compactions });
}

function ourClient(baseURL: string) {
  return { clientConfig: { apiKey: testKey, baseURL } };
}

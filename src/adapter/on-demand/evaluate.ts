import type { Prompt } from "../../prompt/prompt.ts";
import type { LoopOptions } from "../loop-options.ts";
import type { ModelClient } from "../model-client.ts";
import type { PromptResponse } from "../prompt-response.ts";
import { loadOnce } from "./load-once.ts";
import { startWhenLoaded } from "./start-when-loaded.ts";

import "./slices.ts";

/**
 * Runs a prompt: sends it to the model, runs its tool calls, and repeats until the model answers.
 * Used by every adapter.
 */
export async function evaluate<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  options: LoopOptions,
): Promise<PromptResponse<Output>> {
  if (loop.value) return await loop.value.evaluate(prompt, client, options);
  return await startWhenLoaded(prompt, options, {
    load: loop.load,
    start: (code, given) => code.evaluate(prompt, client, given),
  });
}

/** Many processes that import this library run no evaluation (decision 98). */
const loop = loadOnce(() => import("../evaluate.ts"));

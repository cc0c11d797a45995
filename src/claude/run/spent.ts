import { numberAt, recordAt } from "../../base/reading.ts";
import { addUsage, noUsage, type TokenUsage, usageOf } from "../../base/usage.ts";
import type { Given } from "../given.ts";

/** What a run has used, as far as it has been told: the rest comes with its end. */
export class Spent {
  #told: TokenUsage = noUsage;
  #costUsd = 0;

  /** Notes what a step is told to have used. */
  tell(usage: TokenUsage): TokenUsage {
    this.#told = addUsage(this.#told, usage);
    return usage;
  }

  /** What the SDK used besides: to search the web, or to make the conversation shorter. */
  besides(result: Given): TokenUsage {
    const models = Object.values(recordAt(result, "modelUsage"));
    const all = models.map((model) => modelUsage(model)).reduce(addUsage, noUsage);
    const left = (key: keyof TokenUsage) => Math.max(0, all[key] - this.#told[key]);
    return this.tell(
      usageOf({
        inputTokens: left("inputTokens"),
        outputTokens: left("outputTokens"),
        cachedTokens: left("cachedTokens"),
      }),
    );
  }

  /** What came to the cost since it was last asked; the SDK gives sums. */
  cost(result: Given): number | undefined {
    const sum = numberAt(result, "total_cost_usd");
    if (sum === null) return undefined;
    const cost = Math.max(0, sum - this.#costUsd);
    this.#costUsd = sum;
    return cost;
  }
}

function modelUsage(given: unknown): TokenUsage {
  const usage = recordAt({ given }, "given");
  const cachedTokens = numberAt(usage, "cacheReadInputTokens") ?? 0;
  const made = numberAt(usage, "cacheCreationInputTokens") ?? 0;
  return usageOf({
    inputTokens: (numberAt(usage, "inputTokens") ?? 0) + cachedTokens + made,
    outputTokens: numberAt(usage, "outputTokens") ?? 0,
    cachedTokens,
  });
}

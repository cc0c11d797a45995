import { describe, expect, test } from "vitest";
import type { LocalModel, ModelRequest } from "../models/local-model.ts";
import { StepFault } from "../step-fault.ts";
import { callModel } from "./call-model.ts";
import { UsageMeter } from "./usage-meter.ts";

const REQUEST = { model: "any", items: [], tools: [], toolChoice: "auto", turn: 1, text: "Hi." };

async function call(respond: LocalModel["respond"]) {
  const usage = new UsageMeter();
  const { signal } = new AbortController();
  const actions = await callModel({ respond }, REQUEST as unknown as ModelRequest, {
    signal,
    usage,
  });
  return { actions, usage };
}

describe("callModel()", () => {
  test("adds up the usage that the model reports", async () => {
    const { actions, usage } = await call(async (_request, options) => {
      options?.onUsage?.({ inputTokens: 3 });
      options?.onUsage?.({ inputTokens: 2, outputTokens: 4 });
      return [{ say: "Hello." }];
    });
    expect(actions).toEqual([{ say: "Hello." }]);
    expect(usage.reported).toMatchObject({ inputTokens: 5, outputTokens: 4 });
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "ignores a report of %d tokens",
    async (inputTokens) => {
      const { usage } = await call(async (_request, options) => {
        options?.onUsage?.({ inputTokens });
        return [{ say: "Hello." }];
      });
      expect(usage.reported).toBeNull();
    },
  );

  test("throws a StepFault if the model does not return a list of actions", async () => {
    const answer = call(async () => "Hello." as never);
    await expect(answer).rejects.toThrow(StepFault);
    await expect(answer).rejects.toThrow("the model's answer");
  });
});

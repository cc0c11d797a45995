import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import { Budget } from "../../base/budget.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { AgentLoop, type AgentLoopOptions } from "../index.ts";

const prompt = () => definePrompt({ name: "task", instructions: "Do it." });
const options: AgentLoopOptions<{ n: number }, string, string, { n: number }> = {
  name: "review",
  request: z.object({ n: z.number() }),
  prepare: prompt,
  adapter: () => scriptedClient({ text: "done" }),
};

describe("an agent loop", () => {
  test("has its name, version 1 and 5 attempts, and does not see later changes of its options", () => {
    const limits = { maxTurns: 7 };
    const loop = new AgentLoop({ ...options, limits });
    limits.maxTurns = 8;
    expect(loop).toMatchObject({ name: "review", version: "1", slices: [], approve: undefined });
    expect(loop.limits).toEqual({ maxTurns: 7, attempts: 5 });
    expect(Object.isFrozen(loop.limits)).toBe(true);
    expect(loop.requestSchema).toMatchObject({ properties: { n: { type: "number" } } });
  });

  test.each<readonly [object, string]>([
    [
      { name: "" },
      'AgentLoop.name must be 1-64 letters, digits, _ . and -, starting with a letter or digit, got "". Use a name such as "review".',
    ],
    [{ name: "_schedules" }, "AgentLoop.name must be 1-64 letters"],
    [{ name: "a/b" }, "AgentLoop.name must be 1-64 letters"],
    [{ name: 5 }, "AgentLoop.name must be 1-64 letters"],
    [{ version: "v".repeat(33) }, "AgentLoop.version must be 1-32 letters"],
    [
      { version: 2 },
      'AgentLoop.version must be 1-32 letters, digits, _ . and -, starting with a letter or digit, got 2. Omit it for "1".',
    ],
    [{ request: {} }, "AgentLoop.request must be"],
    [
      { prepare: null },
      "AgentLoop.prepare must be a function, got null. Use (request) => new Prompt(template).bind(request).",
    ],
    [{ adapter: null }, "AgentLoop.adapter must be an adapter or a function"],
    [{ adapter: { evaluate: 1 } }, "AgentLoop.adapter must be an adapter or a function"],
    [{ adapter: "sk-secret" }, "AgentLoop.adapter must be an adapter or a function"],
    [{ finalize: 1 }, "AgentLoop.finalize must be a function, got 1. Omit it for the default."],
    [
      { approve: "park" },
      'AgentLoop.approve must be a function, got "park". Omit it for the default.',
    ],
    [{ slices: 5 }, "AgentLoop.slices must be a list of slices, got 5. Use [defineSlice(…)]."],
    [{ slices: [{}] }, "AgentLoop.slices must be a list of slices"],
    [
      { limits: { attempts: 0 } },
      "AgentLoop.limits.attempts must be a positive integer, got 0. Omit it for the default.",
    ],
    [{ limits: { deadlineMs: 1.5 } }, "AgentLoop.limits.deadlineMs must be a positive integer"],
    [{ limits: { maxTurns: "9" } }, "AgentLoop.limits.maxTurns must be a positive integer"],
    [{ limits: { budget: {} } }, "AgentLoop.limits.budget must be a Budget"],
    [{ limits: 5 }, "AgentLoop.limits(options) must be an object"],
  ])("refuses the options %j", (wrong, message) => {
    const create = () => new AgentLoop({ ...options, ...wrong } as never);
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(message);
    expect(create).not.toThrow("sk-secret");
  });

  test("accepts a budget and an adapter instead of a function", async () => {
    const limits = { budget: new Budget({ maxTotalTokens: 10 }) };
    const loop = new AgentLoop({ ...options, limits, adapter: scriptedClient({ text: "hello" }) });
    expect(await loop.execute({ n: 1 })).toBe("hello");
  });

  test("creates its adapter once, and again if that failed", async () => {
    let created = 0;
    const failure = new Error("no key");
    const loop = createLoop({
      adapter: async () => {
        created += 1;
        if (created === 1) throw failure;
        return scriptedClient({ text: "a" }, { text: "b" });
      },
    });
    const failed = await Promise.allSettled([loop.execute({ n: 1 }), loop.execute({ n: 2 })]);
    expect(failed).toEqual(Array(2).fill({ status: "rejected", reason: failure }));
    expect(created).toBe(1);
    expect(await loop.execute({ n: 3 })).toBe("a");
    expect(await loop.execute({ n: 4 })).toBe("b");
    expect(created).toBe(2);
  });

  test.each([null, {}, { evaluate: 1 }])(
    "refuses the adapter %j of a function",
    async (adapter) => {
      const loop = createLoop({ adapter: () => adapter as never });
      await expect(loop.execute({ n: 1 })).rejects.toThrow(
        "AgentLoop.adapter must return an adapter",
      );
    },
  );

  test("validates requests, and returns them with defaults and transforms", async () => {
    const request = z.object({ at: z.string().transform(Number), n: z.number().default(2) });
    const loop = new AgentLoop({ ...options, request, prepare: prompt });
    expect(await loop.parseRequest({ at: "5" })).toEqual({ at: 5, n: 2 });
    await expect(loop.parseRequest({ at: 5 })).rejects.toThrow(
      /^request must match the schema of the loop "review" \(.*\), got .*\. Fix the request\.$/,
    );
    await expect(loop.parseRequest({ at: "5", f: () => 1 })).rejects.toThrow("request must match");
  });

  test.each([null, undefined, "prompt", { prompt: "x" }, {}])(
    "refuses the prompt %j of prepare",
    async (prepared) => {
      const loop = createLoop({ prepare: () => prepared as never });
      await expect(loop.execute({ n: 1 })).rejects.toThrow(
        "AgentLoop.prepare must return a Prompt, or an object with one",
      );
    },
  );

  test.each([
    [undefined, "it is undefined"],
    [Number.NaN, "NaN"],
    [new Date(0), "("],
    [{ f: () => 1 }, "("],
  ])("refuses the result %j of finalize", async (result, problem) => {
    const loop = createLoop({ finalize: () => result as never });
    const executing = loop.execute({ n: 1 });
    await expect(executing).rejects.toThrow(
      `AgentLoop.finalize must return JSON in the loop "${loop.name}" (`,
    );
    await expect(executing).rejects.toThrow(problem);
  });
});

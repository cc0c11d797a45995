import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import { definePrompt } from "../../index.ts";
import { scriptedClient } from "../../testing/index.ts";
import { AgentLoop } from "./agent-loop.ts";

const valid = {
  name: "review",
  request: z.object({}),
  prepare: () => definePrompt({ name: "task", instructions: "Do it." }),
  adapter: () => scriptedClient({ text: "done" }),
};

const create = (options: object) => () => new AgentLoop({ ...valid, ...Object(options) });

describe("AgentLoop", () => {
  test.each(["", "a b", "-a", "x".repeat(65), 7])("refuses the name %j", (name) => {
    expect(create({ name })).toThrow(
      "AgentLoop.name must be 1-64 letters, digits, _ . and -, starting with a letter or digit",
    );
  });

  test.each(["", "a/b", "x".repeat(33), null])("refuses the version %j", (version) => {
    expect(create({ version })).toThrow(
      "AgentLoop.version must be 1-32 letters, digits, _ . and -, starting with a letter or digit",
    );
  });

  test.each([undefined, {}, "prompt"])("refuses %j as prepare", (prepare) => {
    expect(create({ prepare })).toThrow("AgentLoop.prepare must be a function");
  });

  test("refuses an adapter that is neither an adapter nor a function, and does not print it", () => {
    const key = "secret-key-1";
    expect(create({ adapter: { key } })).toThrow(
      "AgentLoop.adapter must be an adapter or a function",
    );
    expect(create({ adapter: { key } })).not.toThrow(key);
    expect(create({ adapter: null })).toThrow("AgentLoop.adapter must be an adapter or a function");
  });

  test.each(["finalize", "approve"])("refuses a %s that is not a function", (name) => {
    expect(create({ [name]: "deny" })).toThrow(`AgentLoop.${name} must be a function`);
  });

  test.each(["attempts", "deadlineMs", "maxTurns"])(
    "refuses a limit %s that is not a positive integer",
    (name) => {
      for (const value of [0, -1, 1.5, "5"]) {
        expect(create({ limits: { [name]: value } })).toThrow(
          `AgentLoop.limits.${name} must be a positive integer`,
        );
      }
    },
  );

  test("refuses a budget that is not a Budget", () => {
    expect(create({ limits: { budget: { maxTotalTokens: 1 } } })).toThrow(
      "AgentLoop.limits.budget must be a Budget",
    );
  });

  test.each([{}, { n: "1" }, { n: 1n }, null])("refuses the request %o", async (request) => {
    await expect(createLoop({ name: "count" }).execute(Object(request))).rejects.toThrow(
      'request must match the schema of the loop "count"',
    );
  });

  test.each([undefined, {}, "prompt"])("refuses %j from prepare", async (prepared) => {
    const loop = createLoop({ prepare: () => prepared as never });
    await expect(loop.execute({ n: 1 })).rejects.toThrow(
      "AgentLoop.prepare must return a Prompt, or an object with one",
    );
  });

  test.each([[undefined], [Number.NaN], [new Date(0)], [{ of: () => 1 }]])(
    "refuses the result %o from finalize, which is not JSON",
    async (result) => {
      const loop = createLoop({ name: "count", finalize: () => result as never });
      await expect(loop.execute({ n: 1 })).rejects.toThrow(
        'AgentLoop.finalize must return JSON in the loop "count"',
      );
    },
  );
});
